// DecodeCSV: parses tables in text form.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::decode_csv_op {
namespace {

constexpr attr_def out_types() {
  attr_def attr{"OUT_TYPE", attr_kind::types};
  attr.allowed = one_of(dtype::f32, dtype::f64, dtype::i32, dtype::i64, dtype::string);
  return attr;
}

result<shapes> infer(const infer_context& at) {
  const auto& types = at.attr<std::vector<dtype>>("OUT_TYPE");
  const auto& delimiter = at.attr<std::string>("field_delim");
  const auto& columns = at.attr<std::vector<int64_t>>("select_cols");
  if (types.empty())
    return at.invalid("record_defaults must say the type of at least one field");
  if (delimiter.size() != 1 || std::string_view{"\"\n\r"}.find(delimiter) != std::string_view::npos)
    return at.invalid("field_delim must be one character, no quote and no end of a line, got '",
                      delimiter, "'");
  if (!columns.empty() && columns.size() != types.size())
    return at.invalid("select_cols must name a column for each of ", types.size(),
                      " record_defaults, got ", columns.size());
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i] < 0 || (i > 0 && columns[i] <= columns[i - 1]))
      return at.invalid("select_cols must grow from a column that is not negative on");
  for (int i = 1; i < at.inputs(); ++i)
    if (auto count = at.input(i).elements(); count > 1 || at.input(i).rank() > 1)
      return at.invalid("record_defaults[", i - 1,
                        "] must be a scalar or at most one value, got shape ", at.input(i));
  return shapes(types.size(), at.input(0));
}

} // namespace

extern constexpr op_def decode_csv{
    .name = "DecodeCSV",
    .doc =
        "Reads each string as the fields of one record, separated by a character.\n\n"
        "There is an output for each field, whose type is that of its default. The default "
        "stands for a field that is empty or na_value; an empty tensor as default says that there "
        "is none, and the field is required. With use_quote_delim, a field may stand in quotes, "
        "a doubled quote in it for one. select_cols names the columns to read, in growing order, "
        "instead of all.",
    .inputs = {{"records", "string"}, {"record_defaults", "OUT_TYPE"}},
    .outputs = {{"output", "OUT_TYPE"}},
    .attrs = {out_types(),
              {"field_delim", ","},
              {"use_quote_delim", true},
              {"na_value", ""},
              {"select_cols", attr_kind::integers, true}},
    .infer = infer,
    .no_gradient = "text has none",
    .example = R"(
y = DecodeCSV(string["1,\"a,b\"", ",c"], f32[0.5], string[""])
fetch y = f32[1, 0.5]
fetch y:1 = string["a,b", "c"]
)",
};

} // namespace troupe::ops::decode_csv_op
