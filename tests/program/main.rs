//! The program as people start it: the built binary, in processes of its own.

mod book;
mod bots;
mod child;
mod crash;
mod demo;
mod serve;
mod spectator;
