#include "troupe/api/train/loop/training_values.hpp"
// Reads losses, summaries, and the notes and differences of checkpoints.

#include "troupe/serialization/events/event_file.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {

double number_in(const tensor& value) {
  if (value.elements() != 1)
    throw error{invalid("the loss must be one number, got shape ", value.dims())};
  switch (value.type()) {
    case dtype::f16: return double{static_cast<float>(value.data<float16>()[0])};
    case dtype::bf16: return double{static_cast<float>(value.data<bfloat16>()[0])};
    case dtype::f64: return value.data<double>()[0];
    default: return double{value.data<float>()[0]};
  }
}

bool is_checkpoint_due(int64_t saved_step, int64_t done, int64_t interval) {
  return interval > 0 && done / interval > saved_step / interval;
}

std::vector<std::string> differences_in(const restore_report& report) {
  std::vector<std::string> texts;
  for (const auto& name : report.missing)
    texts.push_back(concat(report.path, ": does not have ", name));
  for (const auto& name : report.mismatched)
    texts.push_back(concat(report.path, ": ", name));
  std::string extra;
  for (const auto& name : report.unexpected)
    extra += concat(extra.empty() ? "" : ", ", name);
  if (!extra.empty())
    texts.push_back(concat(report.path, ": has ", extra, ", which the graph does not have"));
  return texts;
}

bool has_tag(const tensor& summary, std::string_view tag) {
  auto record = write_summary_event(0, 0, *summary.data<std::string>());
  if (!record)
    return false;
  auto read = parse_event(*record);
  return read && std::ranges::find(read->values, tag, &event_value::tag) != read->values.end();
}

std::map<std::string, std::string> as_notes(const std::map<std::string, int64_t>& runs_left) {
  std::map<std::string, std::string> notes;
  for (const auto& [name, runs] : runs_left)
    notes[concat(runs_left_key, name)] = concat(runs);
  return notes;
}

std::map<std::string, int64_t> runs_left_in(const std::map<std::string, std::string>& notes) {
  std::map<std::string, int64_t> runs_left;
  for (const auto& [key, text] : notes) {
    int64_t runs = 0;
    auto end = text.data() + text.size();
    if (key.starts_with(runs_left_key) && std::from_chars(text.data(), end, runs).ptr == end)
      runs_left[key.substr(runs_left_key.size())] = runs;
  }
  return runs_left;
}

} // namespace troupe
