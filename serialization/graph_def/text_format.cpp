#include "troupe/serialization/graph_def/text_format.hpp"

#include "troupe/runtime/graph/registry.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <climits>
#include <vector>

namespace troupe::graph_def {
namespace {

constexpr int deepest_nesting = 100;

// The text between `prefix` and the next quote; empty if `prefix` is missing.
std::string_view quoted_after(std::string_view text, std::string_view prefix) {
  auto begin = text.find(prefix);
  if (begin == text.npos)
    return {};
  text.remove_prefix(begin + prefix.size());
  auto end = text.find('"');
  return end == text.npos ? std::string_view{} : text.substr(0, end);
}

// Completes Protobuf's message about an unknown field with the known fields.
std::string explain(std::string_view message, const google::protobuf::DescriptorPool& pool) {
  auto type = quoted_after(message, "Message type \""),
       field = quoted_after(message, "has no field named \"");
  const auto* message_type =
      type.empty() || field.empty() ? nullptr : pool.FindMessageTypeByName(std::string{type});
  if (!message_type)
    return std::string{message};
  std::vector<std::string> names;
  for (int i = 0; i < message_type->field_count(); ++i)
    names.emplace_back(message_type->field(i)->name());
  std::string list;
  for (const auto& name : names)
    list += concat(list.empty() ? "" : ", ", name);
  auto proposal = did_you_mean(field, {names.begin(), names.end()});
  return concat(std::string_view{message_type->name()}, " has no field '", field, "'",
                proposal.empty() ? concat("; it has ", list) : proposal);
}

// Keeps the first error. Protobuf's version decides which pair of functions is called.
class error_keeper final : public google::protobuf::io::ErrorCollector {
public:
  error_keeper(const std::string& file, const google::protobuf::DescriptorPool& pool)
      : file_(file), pool_(pool) {}
  void RecordError(int line, int column, std::string_view message) {
    if (first_.ok())
      first_ = invalid(file_, ':', line + 1, ':', column + 1, ": ", explain(message, pool_));
  }
  void RecordWarning(int, int, std::string_view) {}
  void AddError(int line, int column, const std::string& message) {
    RecordError(line, column, message);
  }
  void AddWarning(int, int, const std::string&) {}
  status first() const { return first_; }

private:
  const std::string& file_;
  const google::protobuf::DescriptorPool& pool_;
  status first_;
};

// Finds the types of messages within an Any, `[type.googleapis.com/tensorflow.AssetFileDef] { ...
// }`, by TensorFlow's names.
class any_finder final : public google::protobuf::TextFormat::Finder {
public:
  explicit any_finder(const google::protobuf::DescriptorPool& pool) : pool_(pool) {}
  const google::protobuf::Descriptor* FindAnyType(const google::protobuf::Message&,
                                                  const std::string&,
                                                  const std::string& name) const override {
    constexpr std::string_view package = "tensorflow.";
    return name.starts_with(package)
               ? pool_.FindMessageTypeByName("troupe.graph_def." + name.substr(package.size()))
               : nullptr;
  }

private:
  const google::protobuf::DescriptorPool& pool_;
};

} // namespace

status parse_text(std::string_view text, const std::string& file,
                  google::protobuf::Message& message) {
  if (text.size() > INT_MAX)
    return invalid(file, ": the text is too long");
  const auto& pool = *message.GetDescriptor()->file()->pool();
  error_keeper errors{file, pool};
  any_finder finder{pool};
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetFinder(&finder);
  parser.SetRecursionLimit(deepest_nesting);
  google::protobuf::io::ArrayInputStream in{text.data(), static_cast<int>(text.size())};
  if (parser.Parse(&in, &message))
    return {};
  return errors.first().ok() ? invalid(file, ": the text cannot be read") : errors.first();
}

std::string_view first_field(std::string_view text) {
  auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  while (!text.empty() && !is_letter(text.front())) {
    auto skipped = size_t{1};
    if (text.front() == '#')
      skipped = std::min(text.find('\n'), text.size());
    else if (std::string_view{" \t\r\n\v\f,;"}.find(text.front()) == std::string_view::npos)
      return {};
    text.remove_prefix(skipped);
  }
  size_t end = 0;
  while (end < text.size() && is_letter(text[end]))
    ++end;
  return text.substr(0, end);
}

} // namespace troupe::graph_def
