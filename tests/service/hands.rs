//! The traces of hands, as a collector gets them: from servers in this process, over OTLP.

mod course;
mod kept;
mod scene;
mod told;
