//! Reports that were found later, each with its thread.
