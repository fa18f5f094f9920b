from airflow.sdk import BaseSensorOperator as BaseSensorOperator
