"""Asks a platform what the API specification leaves open: switches of a sandbox, and settings of clients."""
