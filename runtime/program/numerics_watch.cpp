#include "troupe/runtime/program/numerics_watch.hpp"

#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

void numerics_watch::record_inputs(const instruction& code, const tensor* slots) {
  seen_.assign(code.input_count, std::nullopt);
  for (uint16_t i = 0; i < code.input_count; ++i) {
    if (code.states && code.states[i]) {
      if (auto value = code.states[i]->read())
        seen_[i] = summarize(*value);
    } else if (i < 64 && code.last_uses >> i & 1 && slots[code.inputs[i]].unique()) {
      seen_[i] = summarize(slots[code.inputs[i]]);
    }
  }
}

status numerics_watch::check_outputs(const instruction& code, const tensor* slots) const {
  auto error_for = [&](const auto& subject, const tensor& value) {
    return invalid("made a number that is not finite\n  ", subject, ' ', describe(summarize(value)),
                   describe_inputs(code, slots));
  };
  for (uint32_t i = 0; i < code.output_count; ++i)
    if (const auto& value = slots[code.first_output + i]; !value.empty() && !all_finite(value))
      return error_for(concat("output ", i), value);
  if (code.states)
    for (uint16_t i = 0; i < code.input_count; ++i) {
      if (!code.states[i] || (seen_[i] && !seen_[i]->finite()))
        continue; // no variable, or an earlier node made the number
      if (auto value = code.states[i]->read(); value && !all_finite(*value))
        return error_for(concat(code.states[i]->kind(), " '", code.states[i]->name(), '\''),
                         *value);
    }
  return {};
}

std::string numerics_watch::describe_inputs(const instruction& code, const tensor* slots) const {
  std::string text;
  auto inputs = code.origin->inputs();
  for (uint16_t i = 0; i < code.input_count; ++i) {
    text += concat("\n  input ", i);
    if (i < inputs.size())
      text += concat(" '", inputs[i].name(), '\'');
    if (seen_[i])
      text += concat(' ', describe(*seen_[i]));
    else if (code.states && code.states[i])
      text += " had no value";
    else
      text += concat(' ', describe(summarize(slots[code.inputs[i]])));
  }
  return text;
}

} // namespace troupe
