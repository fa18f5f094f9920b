//! Values from Python.
