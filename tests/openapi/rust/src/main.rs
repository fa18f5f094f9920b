//! Calls the sandbox with the client that progenitor generates, and prints what it found as JSON.

use std::env;
use std::error::Error;

use serde_json::{Value, from_value, json, to_value};

use crate::api::Client;
use crate::api::types::{
    CodeCondition, Condition, ConditionValue, Filters, Group, ItemCondition, PromotionCode, Search, SegmentDownload,
    SegmentDownloadScope, Value as Compared,
};

mod api {
    progenitor::generate_api!("../../../docs/openapi.json");
}

/// A client whose requests carry the token.
fn connect(token: &str) -> Result<Client, Box<dyn Error>> {
    let mut headers = reqwest::header::HeaderMap::new();
    headers.insert("Authorization", format!("Bearer {token}").parse()?);
    let http = reqwest::Client::builder().no_proxy().default_headers(headers).build()?;
    Ok(Client::new_with_client(&env::var("BASE_URL")?, http))
}

/// A condition of a search of promotion codes.
fn matches(column: &str, data_type: &str, values: Vec<Compared>) -> Condition {
    Condition::CodeCondition(CodeCondition {
        type_: 2,
        column: column.into(),
        data_type: data_type.into(),
        operator: "matches".into(),
        value: ConditionValue::Values(values),
        extend_value: Vec::new(),
        time_unit: None,
    })
}

fn code_search() -> Result<Search, Box<dyn Error>> {
    let time = Condition::CodeCondition(CodeCondition {
        type_: 2,
        column: "allocated_time".into(),
        data_type: "datetime".into(),
        operator: "equals".into(),
        value: ConditionValue::Time(env::var("DAY")?.parse()?),
        extend_value: Vec::new(),
        time_unit: Some("DAY".into()),
    });
    let conditions = vec![
        matches("allocated_audience", "string", vec![Compared::String(env::var("AUDIENCE")?)]),
        matches("code_status", "number", [1.0, 3.0, 4.0].map(Compared::Number).to_vec()),
        time,
    ];
    Ok(Search {
        item_type_id: -100,
        item_type_name: "promotion_code".into(),
        attrs: ["id", "code_status", "last_used_time"].map(String::from).to_vec(),
        filters: Filters { or: vec![Group { and: conditions }] },
    })
}

fn customer_search() -> Search {
    let customers = ["demo-customer-0001", "demo-customer-0002"];
    let condition = Condition::ItemCondition(ItemCondition {
        column: "customer_id".into(),
        data_type: "string".into(),
        operator: "matches".into(),
        value_type: "normal".into(),
        value: ConditionValue::Values(customers.map(|customer| Compared::String(customer.into())).to_vec()),
        condition_type: "comp_attr".into(),
        time_unit: None,
    });
    Search {
        item_type_id: -1003,
        item_type_name: "customer".into(),
        attrs: ["customer_id", "name"].map(String::from).to_vec(),
        filters: Filters { or: vec![Group { and: vec![condition] }] },
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = connect(&env::var("TOKEN")?)?;
    let mut codes = Vec::new();
    for item in client.search_items(&code_search()?).await?.into_inner().data.data.unwrap_or_default() {
        let code: PromotionCode = from_value(to_value(item)?)?;
        codes.push(json!([code.id, code.code_status, code.last_used_time]));
    }

    let customers = client.search_items(&customer_search()).await?.into_inner().data.data.unwrap_or_default();
    let customers: Vec<Value> = customers.iter().map(|each| json!([each["customer_id"], each["name"]])).collect();

    let download = SegmentDownload { scope: SegmentDownloadScope::Download, export_id: 5_637_051 };
    let export = client.download_segment(&download).await?.into_inner().data;
    let entries: Vec<Value> =
        export.entries.iter().map(|entry| json!([entry.exported_rows, entry.response_code])).collect();

    let refused = match connect("wrong")?.search_items(&customer_search()).await {
        Err(progenitor::progenitor_client::Error::ErrorResponse(refused)) => {
            json!([refused.status().as_u16(), refused.code, refused.data])
        }
        other => return Err(format!("a wrong token was not refused as described: {other:?}").into()),
    };
    println!(
        "{}",
        json!({
            "codes": codes, "customers": customers, "entries": entries, "total": export.meta.total, "refused": refused,
        })
    );
    Ok(())
}
