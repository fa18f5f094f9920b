"""Asks a platform what the API specification leaves open: the answers are switches of a sandbox and client settings."""
