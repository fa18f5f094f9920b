"""The parts of `Sandbox`, one subject per module. They share the control of one service."""
