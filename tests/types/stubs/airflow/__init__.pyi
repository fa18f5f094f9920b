# What the provider uses of Airflow, for type checks where Airflow is not installed. The tests of the
# provider run with Airflow itself.
