troupe_add_ops(
  parsing/decode_csv
  parsing/decode_raw
  parsing/parse_example
  parsing/parse_single_example
  parsing/parse_tensor
  parsing/serialize_tensor)
