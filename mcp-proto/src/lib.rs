//! Model Context Protocol.
