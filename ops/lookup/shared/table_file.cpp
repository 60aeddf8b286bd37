#include "troupe/ops/lookup/shared/table_file.hpp"

#include "troupe/ops/kernel/text.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace troupe::ops {
namespace {

status check_part(std::string_view part_name, int64_t index, dtype type) {
  if (index == line_number && type != dtype::i64)
    return invalid(part_name,
                   "_index -1 stands for the number of the line, which is i64; the table's ",
                   part_name, "s are ", type);
  if (type == dtype::boolean)
    return invalid("a text file tells no truth values; the table's ", part_name, "s are bool");
  return {};
}

// Collects keys or values, one per line.
class part_reader {
public:
  part_reader(dtype type, int64_t index, const table_file_format& format)
      : type_(type), index_(index), format_(format) {}

  status add(std::string_view line, int64_t number) {
    if (index_ == line_number) {
      add_number<int64_t>(static_cast<int64_t>(static_cast<uint64_t>(number) +
                                               static_cast<uint64_t>(format_.offset)));
      return {};
    }
    TROUPE_ASSIGN(auto field, field_of(line));
    switch (type_) {
      case dtype::i32: return parse<int32_t>(field);
      case dtype::i64: return parse<int64_t>(field);
      case dtype::f32: return parse<float>(field);
      case dtype::f64: return parse<double>(field);
      default: texts_.emplace_back(field); return {};
    }
  }

  result<tensor> take() const {
    if (type_ == dtype::string)
      return tensor::vector(texts_);
    auto count = static_cast<int64_t>(bytes_.size() / size_of(type_));
    TROUPE_ASSIGN(auto values, tensor::make(type_, shape{count}));
    std::ranges::copy(bytes_, static_cast<char*>(values.raw()));
    return values;
  }

private:
  result<std::string_view> field_of(std::string_view line) const {
    if (index_ == whole_line)
      return line;
    auto remaining = line;
    for (int64_t column = 0; column < index_; ++column) {
      auto end = remaining.find(format_.delimiter);
      if (end == remaining.npos)
        return invalid("has only ", column + 1, column == 0 ? " column" : " columns", " between '",
                       std::string_view{&format_.delimiter, 1}, "', number ", index_,
                       " (from 0) is wanted: '", shortened(line), "'");
      remaining.remove_prefix(end + 1);
    }
    return remaining.substr(0, remaining.find(format_.delimiter));
  }

  template <class T>
  status parse(std::string_view field) {
    auto value = number_from<T>(field);
    if (!value)
      return invalid('\'', shortened(field), "' is not a number of type ", dtype_of<T>);
    add_number(*value);
    return {};
  }

  template <class T>
  void add_number(T value) {
    const auto* raw = reinterpret_cast<const char*>(&value);
    bytes_.insert(bytes_.end(), raw, raw + sizeof(T));
  }

  static std::string shortened(std::string_view text) {
    constexpr size_t max_shown = 80;
    return text.size() > max_shown ? concat(text.substr(0, max_shown), "...") : std::string{text};
  }

  dtype type_;
  int64_t index_;
  const table_file_format& format_;
  std::vector<char> bytes_; // the numbers' bytes
  std::vector<std::string> texts_;
};

// A pipe or a device may be endless.
status check_file(const std::string& path) {
  std::error_code error_code;
  auto kind = std::filesystem::status(path, error_code).type();
  if (kind == std::filesystem::file_type::not_found)
    return failure(error_kind::not_found, "there is no file '", path,
                   "' where the table lives; relative paths start where that process was started");
  if (kind != std::filesystem::file_type::regular)
    return invalid("'", path, "' is not a regular file");
  return {};
}

} // namespace

status check_table_file(const table_file_format& format, dtype key, dtype value) {
  TROUPE_TRY(check_part("key", format.key_index, key));
  return check_part("value", format.value_index, value);
}

result<table_content> read_table_lines(std::istream& in, const std::string& name,
                                       const table_file_format& format,
                                       const table_signature& signature, stop_signal* stop) {
  TROUPE_TRY(check_table_file(format, signature.key, signature.value));
  part_reader keys{signature.key, format.key_index, format},
      values{signature.value, format.value_index, format};
  std::string line;
  int64_t number = 0;
  for (; (format.lines < 0 || number < format.lines) && std::getline(in, line); ++number) {
    if (number % 1024 == 0 && stop && stop->is_due())
      return failure(error_kind::cancelled, name, ": is not read to its end, the step stops");
    if (line.ends_with('\r'))
      line.pop_back();
    auto outcome = line.empty() ? invalid("is empty, a pair was expected") : status{};
    if (outcome)
      outcome = keys.add(line, number);
    if (outcome)
      outcome = values.add(line, number);
    if (!outcome)
      return std::move(outcome).with_context(concat(name, ':', number + 1));
  }
  if (in.bad())
    return failure(error_kind::data_loss, "'", name, "' cannot be read after line ", number);
  if (number < format.lines)
    return invalid("'", name, "' has ", number, " lines, vocab_size says ", format.lines);
  table_content read;
  TROUPE_ASSIGN(read.keys, keys.take());
  TROUPE_ASSIGN(read.values, values.take());
  return read;
}

result<table_content> read_table_file(const std::string& path, const table_file_format& format,
                                      const table_signature& signature, stop_signal* stop) {
  TROUPE_TRY(check_file(path));
  std::ifstream in{path, std::ios::binary};
  if (!in)
    return failure(error_kind::failed_precondition, "'", path, "' cannot be opened for reading");
  return read_table_lines(in, path, format, signature, stop);
}

} // namespace troupe::ops
