#include "tests/support/op_samples.hpp"

#include "troupe/serialization/text/close_to.hpp"
#include "troupe/serialization/text/text_graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <set>

namespace troupe::test {
namespace {

bool is_list(const op_def& op, const port& at) {
  auto* type = op.find_attr(at.type);
  return !at.count.empty() || (type && type->kind == attr_kind::types);
}

// Attributes that name the type or number of an input follow from the inputs; but of several lists,
// the length of only one.
attr_map without_deduced(const op_def& op, attr_map attrs) {
  auto lists = std::ranges::count_if(op.inputs, [&](auto& at) { return is_list(op, at); });
  for (const auto& port : op.inputs)
    if (lists <= 1 || !is_list(op, port)) {
      attrs.erase(std::string{port.type});
      attrs.erase(std::string{port.count});
    }
  return attrs;
}

std::string with_shapes(std::string text, const text_graph& parsed, placeholders shapes) {
  if (shapes == placeholders::as_written)
    return text;
  for (const auto& run : parsed.runs)
    for (const auto& feed : run.feeds) {
      auto dims = shapes == placeholders::unknown ? "?" : concat(feed.value.dims());
      std::regex line{concat("(^|\n)( *", feed.to.node->name(),
                             " *= *Placeholder[^\n]*shape=)(\\[[^\\]]*\\]|\\?)")};
      text = std::regex_replace(text, line, "$1$2" + dims);
    }
  return text;
}

void run_all(const text_graph& text, evaluator& by, std::vector<std::string>& device_errors) {
  for (const auto& run : text.runs) {
    std::vector<evaluator::feed> feeds;
    std::vector<edge> fetches;
    for (const auto& one : run.feeds)
      feeds.emplace_back(one.to, one.value);
    for (const auto& one : run.fetches)
      fetches.push_back(one.from);
    auto outcome = by.run(feeds, fetches, run.targets);
    if (run.error) {
      if (auto expected = check_error(*run.error, outcome.status()); !expected)
        device_errors.push_back(expected.message());
      continue;
    }
    if (!outcome) {
      device_errors.push_back(outcome.status().message());
      continue;
    }
    std::string why;
    for (size_t i = 0; i < run.fetches.size(); ++i)
      if (const auto& fetch = run.fetches[i];
          fetch.expected && !close_to((*outcome)[i], *fetch.expected, fetch.tolerance, &why))
        device_errors.push_back(concat("line ", fetch.line, ": ", why));
  }
}

template <class From>
double to_double(const From& from) {
  if constexpr (std::is_same_v<From, std::string>)
    return std::strtod(from.c_str(), nullptr);
  else if constexpr (std::is_same_v<From, float16> || std::is_same_v<From, bfloat16>)
    return static_cast<float>(from);
  else if constexpr (std::is_arithmetic_v<From>)
    return static_cast<double>(from);
  else
    return static_cast<double>(from.real());
}

template <class To>
To from_double(double from) {
  if constexpr (std::is_same_v<To, std::string>)
    return concat(from);
  else if constexpr (std::is_same_v<To, bool>)
    return from != 0;
  else if constexpr (std::is_integral_v<To>)
    return static_cast<To>(std::isfinite(from) ? static_cast<int64_t>(std::clamp(from, -9e18, 9e18))
                                               : 0);
  else if constexpr (std::is_same_v<To, float16> || std::is_same_v<To, bfloat16>)
    return To{static_cast<float>(from)};
  else
    return static_cast<To>(from);
}

// Calls body with a value of the C++ type.
template <class Body>
void with_cpp_type(dtype type, Body&& body) {
  switch (type) {
    case dtype::variant:
    case dtype::none: return;
    case dtype::boolean: return body(bool{});
    case dtype::u8: return body(uint8_t{});
    case dtype::u16: return body(uint16_t{});
    case dtype::u32: return body(uint32_t{});
    case dtype::u64: return body(uint64_t{});
    case dtype::i8: return body(int8_t{});
    case dtype::i16: return body(int16_t{});
    case dtype::i32: return body(int32_t{});
    case dtype::i64: return body(int64_t{});
    case dtype::f16: return body(float16{});
    case dtype::bf16: return body(bfloat16{});
    case dtype::f32: return body(float{});
    case dtype::f64: return body(double{});
    case dtype::c64: return body(std::complex<float>{});
    case dtype::c128: return body(std::complex<double>{});
    case dtype::string: return body(std::string{});
  }
}

// The tables that the node uses. What gives a table its pairs shall find none.
std::map<size_t, table_sample> tables_of(const node& node, evaluator& by) {
  std::map<size_t, table_sample> found;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const auto* behind = resource_behind(node.inputs()[i]);
    if (!node.input_is_ref(static_cast<int>(i)) || behind->op().makes != resource::table)
      continue;
    auto& sample = found[i];
    sample = {std::string{behind->op().name}, behind->attrs(), {}};
    auto pairs = static_cast<ops::lookup_table&>(by.state_of(*behind)).content(heap_allocator());
    if (pairs && !node.op().name.starts_with("Initialize"))
      sample.pairs = *std::move(pairs);
  }
  return found;
}

} // namespace

std::vector<std::string> complaints_about(const registry& ops, std::string_view text, device& on) {
  graph in{ops};
  auto parsed = parse_text_graph(text, "text", in);
  if (!parsed)
    return {parsed.status().message()};
  std::vector<std::string> device_errors;
  evaluator by{in, on};
  run_all(*parsed, by, device_errors);
  return device_errors;
}

bool needs_runtime(const registry& ops, const op_def& op) {
  graph in{ops};
  auto parsed = parse_text_graph(op.example, op.name, in);
  return parsed && std::ranges::any_of(in.nodes(), [](const auto& at) {
           return has(at->op().effects, effect::blocking) || at->op().make_responder;
         });
}

example_run run_example(const registry& ops, const op_def& op, device& on, placeholders shapes) {
  example_run shown;
  graph written{ops}, in{ops};
  auto parsed = parse_text_graph(op.example, op.name, written);
  if (parsed && shapes != placeholders::as_written)
    parsed = parse_text_graph(with_shapes(std::string{op.example}, *parsed, shapes), op.name, in);
  if (!parsed) {
    shown.device_errors.push_back(parsed.status().message());
    return shown;
  }
  auto& of = shapes == placeholders::as_written ? written : in;
  if (std::ranges::none_of(of.nodes(), [&](const auto& at) { return &at->op() == &op; }))
    shown.device_errors.push_back("does not show the op");
  if (shapes == placeholders::as_fed)
    for (const auto& node : of.nodes())
      for (int i = 0; &node->op() == &op && i < node->outputs(); ++i)
        if (!node->output_shape(i).fully_known())
          shown.device_errors.push_back(concat(node->name(), ": the shape of output ", i,
                                               " is inferred only as ", node->output_shape(i)));
  evaluator by{of, on};
  by.observe([&](const node& node, const auto& inputs, const auto&) {
    if (&node.op() == &op)
      shown.samples.push_back(
          {&op, without_deduced(op, node.attrs()), inputs, tables_of(node, by)});
  });
  run_all(*parsed, by, shown.device_errors);
  if (shapes == placeholders::as_written) { // once more, with memory reused as in a program
    evaluator reusing{of, on};
    run_all(*parsed, reusing, shown.device_errors);
  }
  return shown;
}

result<rebuilt> rebuild(const registry& ops, const op_sample& of, bool shapes_known,
                        const std::vector<bool>& constant) {
  rebuilt made;
  made.in = std::make_unique<graph>(ops);
  std::vector<edge> inputs;
  auto names = type_attrs_of_inputs(of);
  for (size_t i = 0; i < of.inputs.size(); ++i) {
    const auto& value = of.inputs[i];
    auto dims =
        shapes_known && !value.empty() ? partial_shape{value.dims()} : partial_shape::unknown();
    if (auto table = of.tables.find(i); table != of.tables.end()) {
      TROUPE_ASSIGN(auto* maker,
                    made.in->add({.op = table->second.op, .attrs = table->second.attrs}));
      made.tables.emplace_back(maker, table->second.pairs);
      inputs.push_back({maker, 0});
    } else if (names.size() == of.op->inputs.size() &&
               (of.op->inputs[i].ref || of.op->inputs[i].handle)) {
      auto type = value.type();
      for (size_t k = 0; type == dtype::none && k < names.size(); ++k)
        if (names[k] == names[i])
          type = of.inputs[k].type();
      if (type == dtype::none)
        type = dtype::f32;
      TROUPE_ASSIGN(
          auto* made_variable,
          made.in->add({.op = "VariableV2", .attrs = {{"dtype", type}, {"shape", dims}}}));
      made.variables.emplace_back(made_variable, value);
      inputs.push_back({made_variable, 0});
    } else if (i < constant.size() && constant[i] && value.type() != dtype::variant) {
      TROUPE_ASSIGN(
          auto* known,
          made.in->add({.op = "Const", .attrs = {{"value", value}, {"dtype", value.type()}}}));
      inputs.push_back({known, 0});
    } else {
      TROUPE_ASSIGN(auto* fed, made.in->add({.op = "Placeholder",
                                             .attrs = {{"dtype", value.type()}, {"shape", dims}}}));
      inputs.push_back({fed, 0});
      made.feeds.emplace_back(inputs.back(), value);
    }
  }
  TROUPE_ASSIGN(
      made.at, made.in->add({.op = std::string{of.op->name}, .inputs = inputs, .attrs = of.attrs}));
  return made;
}

result<std::vector<tensor>> run(rebuilt& what, device& on) {
  evaluator by{*what.in, on};
  for (const auto& [variable, value] : what.variables)
    if (!value.empty())
      TROUPE_TRY(by.variable_of(*variable).assign(value));
  for (const auto& [table, pairs] : what.tables)
    if (!pairs.keys.empty())
      TROUPE_TRY(
          static_cast<ops::lookup_table&>(by.state_of(*table)).replace(pairs, heap_allocator()));
  std::vector<edge> fetches;
  for (int i = 0; i < what.at->outputs(); ++i)
    if (!what.at->output_is_ref(i) || !what.variables.empty()) // nobody has assigned a new variable
      fetches.push_back(what.at->output(i));
  return by.run(what.feeds, fetches, {what.at});
}

std::vector<std::string> type_attrs_of_inputs(const op_sample& of) {
  std::vector<std::string> names;
  auto list = [&](const port& one) { return is_list(*of.op, one); };
  // Where several ports are lists, they have one length.
  auto lists = static_cast<size_t>(std::ranges::count_if(of.op->inputs, list));
  auto others = of.op->inputs.size() - lists;
  for (const auto& port : of.op->inputs) {
    auto* type = of.op->find_attr(port.type);
    auto count = list(port) ? (of.inputs.size() - others) / lists : 1;
    auto typed = type && type->kind == attr_kind::type;
    names.insert(names.end(), count, typed ? std::string{port.type} : std::string{});
  }
  return names;
}

op_sample with_type(const op_sample& of, std::string_view type_attr, dtype type) {
  auto changed = of;
  if (auto it = changed.attrs.find(type_attr); it != changed.attrs.end())
    it->second = type;
  auto names = type_attrs_of_inputs(of);
  for (size_t i = 0; i < changed.inputs.size(); ++i)
    if (names[i] == type_attr && !changed.inputs[i].empty())
      changed.inputs[i] = converted(changed.inputs[i], type);
  auto is_one_of = [&](auto... all) { return ((type_attr == all) || ...); };
  for (auto& [input, table] : changed.tables) {
    auto keys = is_one_of("Tin", "Tkey", "Tkeys"), values = is_one_of("Tout", "Tval", "Tvalues");
    if (keys || values)
      table.attrs.find(keys ? "key_dtype" : "value_dtype")->second = type;
    if (auto& part = keys ? table.pairs.keys : table.pairs.values;
        (keys || values) && !part.empty())
      part = converted(part, type);
  }
  for (auto& [name, value] : changed.attrs) // such as the value of a Const
    if (auto* constant = value.get_if<tensor>(); constant && !constant->empty())
      value = converted(*constant, type);
  return changed;
}

tensor converted(const tensor& from, dtype type) {
  if (from.type() == type)
    return from;
  std::vector<double> values;
  with_cpp_type(from.type(), [&]<class From>(From) {
    for (const auto& value : from.values<From>())
      values.push_back(to_double(value));
  });
  auto to = *tensor::make(type, from.dims());
  with_cpp_type(
      type, [&]<class To>(To) { std::ranges::transform(values, to.data<To>(), from_double<To>); });
  return to;
}

} // namespace troupe::test
