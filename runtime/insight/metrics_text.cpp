#include "troupe/runtime/insight/metrics_text.hpp"

#include "troupe/runtime/types/printable.hpp"

#include <charconv>
#include <cmath>

namespace troupe {
namespace {

void append_number(double value, std::string& to) {
  if (std::isnan(value)) {
    to += "NaN";
  } else if (std::isinf(value)) {
    to += value > 0 ? "+Inf" : "-Inf";
  } else {
    char digits[32];
    auto [end, problem] = std::to_chars(std::begin(digits), std::end(digits), value);
    to.append(digits, end);
  }
}

void append_label(std::string_view value, std::string& to) {
  to += '"';
  for (char c : printable_lines(value)) { // the format knows these three escapes only
    if (c == '\\' || c == '"')
      (to += '\\') += c;
    else if (c == '\n')
      to += "\\n";
    else
      to += c;
  }
  to += '"';
}

std::string_view name_of(metrics_text::type metric_type) {
  switch (metric_type) {
    case metrics_text::type::counter: return "counter";
    case metrics_text::type::histogram: return "histogram";
    default: return "gauge";
  }
}

} // namespace

void metrics_text::family(std::string_view name, type metric_type, std::string_view help) {
  name_ = name;
  head_ = "# HELP ";
  ((head_ += name) += ' ') += help;
  ((head_ += "\n# TYPE ") += name) += ' ';
  (head_ += name_of(metric_type)) += '\n';
}

void metrics_text::write(std::string_view suffix, double value, labels label_values) {
  text_ += std::exchange(head_, {});
  (text_ += name_) += suffix;
  char before = '{';
  for (const auto& [label, content] : label_values) {
    ((text_ += before) += label) += '=';
    append_label(content, text_);
    before = ',';
  }
  if (label_values.size() > 0)
    text_ += '}';
  text_ += ' ';
  append_number(value, text_);
  text_ += '\n';
}

} // namespace troupe
