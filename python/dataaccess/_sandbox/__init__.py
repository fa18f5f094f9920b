"""The parts of `Sandbox`, one subject each. They know the native service they share, not one another."""
