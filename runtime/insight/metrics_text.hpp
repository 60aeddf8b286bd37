// Writes metrics as Prometheus reads them: its text format, version 0.0.4.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

/// Families are written one after the other, each with its samples at once. A family without a
/// sample is left out.
class metrics_text {
public:
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

  enum class type { counter, gauge, histogram };
  using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// `name` and `help` are literals of ours; values of labels may be any text.
  void family(std::string_view name, type of, std::string_view help);
  void sample(double value, labels with = {}) { write("", value, with); }
  /// Of a histogram: "_bucket", "_sum" or "_count".
  void sample(std::string_view suffix, double value, labels with = {}) {
    write(suffix, value, with);
  }
  /// A family of one sample.
  void single(std::string_view name, type of, std::string_view help, double value) {
    family(name, of, help);
    sample(value);
  }

  std::string take() { return std::move(text_); }

private:
  void write(std::string_view suffix, double value, labels with);

  std::string text_, name_, head_; // head_: of a family without a sample so far
};

} // namespace troupe
