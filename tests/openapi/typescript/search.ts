// Calls the sandbox with the types of openapi-typescript, and prints what it found as JSON.

import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Schemas = components["schemas"];

const { BASE_URL: baseUrl = "", TOKEN: token, AUDIENCE: audience = "", DAY: day = "" } = process.env;

function connect(token: string | undefined) {
  return createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
}

function codeCondition(column: string, data_type: string, value: Schemas["Value"][]): Schemas["CodeCondition"] {
  return { type: 2, column, data_type, operator: "matches", value, extendValue: [] };
}

const time: Schemas["CodeCondition"] = {
  type: 2,
  column: "allocated_time",
  data_type: "datetime",
  operator: "equals",
  value: Number(day),
  time_unit: "DAY",
};
const codeSearch: Schemas["Search"] = {
  itemTypeId: -100,
  itemTypeName: "promotion_code",
  attrs: ["id", "code_status", "last_used_time"],
  filters: {
    OR: [
      {
        AND: [
          codeCondition("allocated_audience", "string", [audience]),
          codeCondition("code_status", "number", [1, 3, 4]),
          time,
        ],
      },
    ],
  },
};
const customerCondition: Schemas["ItemCondition"] = {
  column: "customer_id",
  data_type: "string",
  operator: "matches",
  value_type: "normal",
  value: ["demo-customer-0001", "demo-customer-0002"],
  condition_type: "comp_attr",
};
const customerSearch: Schemas["Search"] = {
  itemTypeId: -1003,
  itemTypeName: "customer",
  attrs: ["customer_id", "name"],
  filters: { OR: [{ AND: [customerCondition] }] },
};

const client = connect(token);
const codes = await client.POST("/access/api/item/search", { body: codeSearch });
const customers = await client.POST("/access/api/item/search", { body: customerSearch });
const download = await client.POST("/access/api/segment/download", { body: { scope: "download", exportId: 5637051 } });
const refused = await connect("wrong").POST("/access/api/item/search", { body: customerSearch });

const records: Schemas["PromotionCode"][] = codes.data?.data.data ?? [];
const entries: Schemas["ExportEntry"][] = download.data?.data.entries ?? [];
console.log(
  JSON.stringify({
    codes: records.map((code) => [code.id, code.code_status, code.last_used_time]),
    customers: customers.data?.data.data?.map((customer) => [customer["customer_id"], customer["name"]]),
    entries: entries.map((entry) => [entry.exportedRows, entry.responseCode]),
    total: download.data?.data.meta.total,
    refused: [refused.response.status, refused.error?.code, refused.error?.data],
  }),
);
