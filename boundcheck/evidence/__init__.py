"""Kinds of evidence; each gives a Verdict. Where what stands:

| concept | files |
|---|---|
| claim and result | `claim_result` (data), `claim` (carries one out), `check` (Python's answers), `claim_constants` |
| resolve | `claim_spec` (keys of a table), `spec` (mistakes of a file), `resolve`, `open_step_sizes`, `claim_rounds` |
| compare and judge | `compared_points` (both sides), `deciding` (the order), `reasons` (words), `compare` (verdict) |
| hypotheses | `hypotheses`, `kind_parameters` (of a method), `assumptions`, `trials` (at points), `constant_claims` |
| statistics | `eprocess`, `confidence`, `ordering`, `rate`, `measurement_error` |
| tuning | `rounds_to_target`, `tuning` |
| standing of a reading | `standing`, `contradictions`, `shipped_files`, `statement_rows` |
| witnesses and external curves | `witness`, `external_curve` (reads one), `outside` (compares it) |
| studies and limits | `studies`, `limits`, `timetables` |
| runs and results in the store | `stored`, `kept_results` |
"""
