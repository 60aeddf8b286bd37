#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/first_failure.hpp"
#include "troupe/ops/kernel/text.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>

namespace troupe::ops::decode_csv_cpu {
namespace {

struct csv_dialect {
  char delimiter = ',';
  bool quotes = true;
};

// Calls `take(field)` for each field until it returns that it needs no more. An empty record has no
// fields.
template <class Take>
status read_record(std::string_view record, const csv_dialect& in, Take&& take) {
  const auto ends_line = [](char c) { return c == '\n' || c == '\r'; };
  const auto full_record = record;
  std::string field;
  while (!record.empty()) {
    if (ends_line(record.front())) {
      record.remove_prefix(1);
      continue;
    }
    field.clear();
    if (in.quotes && record.front() == '"') {
      record.remove_prefix(1);
      for (;;) {
        auto quote = record.find('"');
        if (quote == record.npos)
          return invalid("a quoted field does not end");
        field += record.substr(0, quote);
        record.remove_prefix(quote + 1);
        if (record.empty() || record.front() == in.delimiter)
          break;
        if (record.front() != '"')
          return invalid("a quote in a quoted field must be doubled");
        field += '"';
        record.remove_prefix(1);
      }
    } else {
      field = record.substr(0, record.find(in.delimiter));
      for (char c : field)
        if (ends_line(c) || (in.quotes && c == '"'))
          return invalid("a field with quotes or ends of lines must be quoted");
      record.remove_prefix(field.size());
    }
    if (!record.empty())
      record.remove_prefix(1); // the delimiter
    if (!take(field))
      return {};
  }
  if (full_record.ends_with(in.delimiter)) {
    field.clear();
    take(field);
  }
  return {};
}

struct csv_format {
  csv_dialect dialect;
  std::string missing;
  std::vector<int64_t> columns; // empty: all columns
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  const auto& csv_node = setup.origin;
  return std::shared_ptr<void>{std::make_shared<csv_format>(csv_format{
      {csv_node.attr<std::string>("field_delim")[0], csv_node.attr<bool>("use_quote_delim")},
      csv_node.attr<std::string>("na_value"),
      csv_node.attr<std::vector<int64_t>>("select_cols")})};
}

template <class T>
bool store_number(const std::string& field, const tensor& to, int64_t i) {
  auto value = number_from<T>(field);
  if (value)
    to.data<T>()[i] = *value;
  return value.has_value();
}

bool store(const std::string& field, const tensor& to, int64_t i) {
  switch (to.type()) {
    case dtype::f32: return store_number<float>(field, to, i);
    case dtype::f64: return store_number<double>(field, to, i);
    case dtype::i32: return store_number<int32_t>(field, to, i);
    case dtype::i64: return store_number<int64_t>(field, to, i);
    default: to.data<std::string>()[i] = field; return true;
  }
}

class record_reader {
public:
  record_reader(kernel_context& at, std::vector<tensor> outputs)
      : at_(at), format_(at.state<csv_format>()), outputs_(std::move(outputs)) {}

  status read(int64_t i) const {
    size_t column = 0, next = 0;
    status first_error;
    auto take = [&](const std::string& field) {
      auto is_selected =
          format_.columns.empty() || static_cast<size_t>(format_.columns[next]) == column;
      ++column;
      if (!is_selected)
        return true;
      if (next < outputs_.size())
        first_error = put(field, next, i);
      ++next;
      return first_error.ok() && (format_.columns.empty() || next < format_.columns.size());
    };
    auto outcome = read_record(at_.input(0).data<std::string>()[i], format_.dialect, take);
    if (outcome && !first_error)
      outcome = std::move(first_error);
    if (outcome && next != outputs_.size())
      outcome = invalid("must have ", outputs_.size(), " fields, got ", next);
    return outcome ? status{} : std::move(outcome).with_context(concat("record ", i));
  }

private:
  status put(const std::string& field, size_t f, int64_t i) const {
    const auto& to = outputs_[f];
    if (!field.empty() && field != format_.missing)
      return store(field, to, i) ? status{}
                                 : invalid("field ", f, " is no ", to.type(), ": '", field, '\'');
    const auto& fallback = at_.input(static_cast<int>(f) + 1);
    if (fallback.elements() == 0)
      return invalid("field ", f, " is required, but missing");
    copy_elements({fallback}, {to, i}, 1);
    return {};
  }

  kernel_context& at_;
  const csv_format& format_;
  std::vector<tensor> outputs_;
};

status run(kernel_context& at) {
  std::vector<tensor> outputs;
  for (int f = 0; f < at.outputs(); ++f) {
    if (at.input(f + 1).elements() > 1)
      return invalid("record_defaults[", f, "] must have at most one value, got shape ",
                     at.input(f + 1).dims());
    TROUPE_ASSIGN(auto* out, at.allocate(f, at.input(0).dims()));
    outputs.push_back(*out);
  }
  record_reader reader{at, std::move(outputs)};
  first_failure failed;
  at.parallel_for(at.input(0).elements(), 100.0 * at.outputs(), [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      if (auto outcome = reader.read(i); !outcome)
        return failed.note(i, std::move(outcome));
  });
  return failed.take();
}

} // namespace

extern constexpr kernel_def decode_csv_cpu{
    .op = "DecodeCSV",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::decode_csv_cpu
