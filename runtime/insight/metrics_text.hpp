// Writes metrics in the text format of Prometheus, version 0.0.4.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

/// Writes families one after the other, each followed by its samples. A family without samples is
/// omitted.
class metrics_text {
public:
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

  enum class type { counter, gauge, histogram };
  using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// `name` and `help` must be valid in the format as they are; label values may be any text.
  void family(std::string_view name, type metric_type, std::string_view help);
  void sample(double value, labels label_values = {}) { write("", value, label_values); }
  /// Adds a sample of a histogram: "_bucket", "_sum" or "_count".
  void sample(std::string_view suffix, double value, labels label_values = {}) {
    write(suffix, value, label_values);
  }
  /// Writes a family with one sample.
  void single(std::string_view name, type metric_type, std::string_view help, double value) {
    family(name, metric_type, help);
    sample(value);
  }

  std::string take() { return std::move(text_); }

private:
  void write(std::string_view suffix, double value, labels label_values);

  std::string text_, name_, head_; // head_: the head of a family that has no sample yet
};

} // namespace troupe
