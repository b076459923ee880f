"""What a delivery history of the SCMS kind looks like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

NEEDED = (
    "Country",
    "Shipment Mode",
    "PQ First Sent to Client Date",
    "PO Sent to Vendor Date",
    "Scheduled Delivery Date",
    "Delivered to Client Date",
    "Vendor",
    "Weight (Kilograms)",
    "Freight Cost (USD)",
)
HEADER = ("ID", "Project Code", *NEEDED[:6], "Delivery Recorded Date", *NEEDED[6:], "Item Description")
BASE = {
    "ID": "1",
    "Project Code": "100-CI-T01",
    "Country": "Côte d'Ivoire",
    "Shipment Mode": "Air",
    "PQ First Sent to Client Date": "Pre-PQ Process",
    "PO Sent to Vendor Date": "12/13/2009",
    "Scheduled Delivery Date": "23-Jan-10",
    "Delivered to Client Date": "23-Jan-10",
    "Delivery Recorded Date": "24-Jan-10",
    "Vendor": "Zéphyr Labs, Ltd",
    "Weight (Kilograms)": "50",
    "Freight Cost (USD)": "100.50",
    "Item Description": 'HIV "rapid" test, 30 tests',
}
Write = Callable[..., Path]
