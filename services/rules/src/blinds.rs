//! Who posts, where the button is, and who may enter (rules 2.1 to 2.10).
