"""The parts of `Sandbox`, one subject per module. They share the native service."""
