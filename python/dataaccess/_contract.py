"""Names and numbers of the API specification. A test compares them with the core in `src/contract`."""

from __future__ import annotations

SEARCH_PATH = "/access/api/item/search"
DOWNLOAD_PATH = "/access/api/segment/download"

CUSTOMER, VISITOR, PROMOTION_CODE = -1003, -1007, -100
AVAILABLE, SENT, USED = 1, 3, 4

# The ids that the service fixes, by the names of the business objects.
PROMOTION_CODE_NAME = "promotion_code"
ITEM_TYPES = {"customer": CUSTOMER, PROMOTION_CODE_NAME: PROMOTION_CODE}

# The numbered values of promotion codes, by attribute and name.
VALUES = {
    "audience_type": {"customer": CUSTOMER, "visitor": VISITOR},
    "code_status": {"available": AVAILABLE, "sent": SENT, "used": USED},
}

# Most values of a list in one request: the core splits a longer list.
VALUES_PER_REQUEST = 990
