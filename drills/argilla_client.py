"""What a person does with Argilla's own package; runs in Argilla's environment, not in ours.

    python -P argilla_client.py ADDRESS KEY SUGGESTED EXPORT

The records of SUGGESTED go into a dataset, twice, as those of two files would. The first three are answered: the
suggestion is submitted, kept as a draft, and discarded; the fourth is submitted with a label on its first word alone.
EXPORT is what there is then.
"""

from __future__ import annotations

import sys

import argilla

address, key, suggested, export = sys.argv[1:]
client = argilla.Argilla(api_url=address, api_key=key)
settings = argilla.Settings(
    fields=[argilla.TextField(name="text")],
    questions=[
        argilla.SpanQuestion(name="spans", field="text", labels=["hedge"], required=False),
        argilla.MultiLabelQuestion(name="labels", labels=["hedge", "O"]),
    ],
    metadata=[argilla.FloatMetadataProperty(name="score")],
)
dataset = argilla.Dataset(name="drill", workspace="drill", settings=settings, client=client)
dataset.create()
dataset.records.from_json(suggested)
records = list(dataset.records)
dataset.records.from_json(suggested)
if len(list(dataset.records)) != 2 * len(records):
    raise SystemExit(f"{len(list(dataset.records))} records are there; expected: {2 * len(records)}")

for number, status in enumerate(("submitted", "draft", "discarded", "submitted")):
    record = records[number]
    answers = {name: {"value": found["value"]} for name, found in record.suggestions.to_dict().items()}
    if number == 3:
        end = record.fields["text"].index(" ")
        answers = {"spans": {"value": [{"start": 0, "end": end, "label": "hedge"}]}, "labels": {"value": ["hedge"]}}
    answer = {"values": {"labels": {"value": ["O"]}} | answers, "status": status}
    client.api.http_client.post(f"/api/v1/records/{record._server_id}/responses", json=answer).raise_for_status()
dataset.records.to_json(export)
