# What the provider uses of Airflow, for type checks where Airflow is not installed. `make test-airflow` checks the
# provider against Airflow itself.
