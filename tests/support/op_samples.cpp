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

bool is_list(const op_def& op, const port& op_port) {
  auto* type = op.find_attr(op_port.type);
  return !op_port.count.empty() || (type && type->kind == attr_kind::types);
}

// Attributes that name the type or number of an input are inferred from the inputs; with several
// lists, only the length of one.
attr_map without_deduced(const op_def& op, attr_map attrs) {
  auto lists =
      std::ranges::count_if(op.inputs, [&](auto& op_port) { return is_list(op, op_port); });
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
      std::regex line{concat("(^|\n)( *", feed.fed_edge.node->name(),
                             " *= *Placeholder[^\n]*shape=)(\\[[^\\]]*\\]|\\?)")};
      text = std::regex_replace(text, line, "$1$2" + dims);
    }
  return text;
}

void run_all(const text_graph& text, evaluator& reference, std::vector<std::string>& failures) {
  for (const auto& run : text.runs) {
    std::vector<evaluator::feed> feeds;
    std::vector<edge> fetches;
    for (const auto& fed : run.feeds)
      feeds.emplace_back(fed.fed_edge, fed.value);
    for (const auto& fetched : run.fetches)
      fetches.push_back(fetched.fetched_edge);
    auto outcome = reference.run(feeds, fetches, run.targets);
    if (run.error) {
      if (auto expected = check_error(*run.error, outcome.status()); !expected)
        failures.push_back(expected.message());
      continue;
    }
    if (!outcome) {
      failures.push_back(outcome.status().message());
      continue;
    }
    std::string problem;
    for (size_t i = 0; i < run.fetches.size(); ++i)
      if (const auto& fetch = run.fetches[i];
          fetch.expected && !close_to((*outcome)[i], *fetch.expected, fetch.tolerance, &problem))
        failures.push_back(concat("line ", fetch.line, ": ", problem));
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

// The tables that the node uses. For a node that fills a table, the table is empty.
std::map<size_t, table_sample> tables_of(const node& node, evaluator& reference) {
  std::map<size_t, table_sample> tables;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const auto* resource_node = resource_behind(node.inputs()[i]);
    if (!node.input_is_ref(static_cast<int>(i)) ||
        resource_node->op().state_kind != resource::table)
      continue;
    auto& sample = tables[i];
    sample = {std::string{resource_node->op().name}, resource_node->attrs(), {}};
    auto pairs = static_cast<ops::lookup_table&>(reference.state_of(*resource_node))
                     .content(heap_allocator());
    if (pairs && !node.op().name.starts_with("Initialize"))
      sample.pairs = *std::move(pairs);
  }
  return tables;
}

} // namespace

std::vector<std::string> differences_of(const registry& ops, std::string_view text,
                                        device& target_device) {
  graph parsed_graph{ops};
  auto parsed = parse_text_graph(text, "text", parsed_graph);
  if (!parsed)
    return {parsed.status().message()};
  std::vector<std::string> failures;
  evaluator reference{parsed_graph, target_device};
  run_all(*parsed, reference, failures);
  return failures;
}

bool needs_runtime(const registry& ops, const op_def& op) {
  graph parsed_graph{ops};
  auto parsed = parse_text_graph(op.example, op.name, parsed_graph);
  return parsed && std::ranges::any_of(parsed_graph.nodes(), [](const auto& graph_node) {
           return has(graph_node->op().effects, effect::blocking) ||
                  graph_node->op().make_waitable_resource;
         });
}

example_run run_example(const registry& ops, const op_def& op, device& target_device,
                        placeholders shapes) {
  example_run run_shown;
  graph written{ops}, stripped{ops};
  auto parsed = parse_text_graph(op.example, op.name, written);
  if (parsed && shapes != placeholders::as_written)
    parsed =
        parse_text_graph(with_shapes(std::string{op.example}, *parsed, shapes), op.name, stripped);
  if (!parsed) {
    run_shown.failures.push_back(parsed.status().message());
    return run_shown;
  }
  auto& used_graph = shapes == placeholders::as_written ? written : stripped;
  if (std::ranges::none_of(used_graph.nodes(),
                           [&](const auto& graph_node) { return &graph_node->op() == &op; }))
    run_shown.failures.push_back("does not show the op");
  if (shapes == placeholders::as_fed)
    for (const auto& node : used_graph.nodes())
      for (int i = 0; &node->op() == &op && i < node->outputs(); ++i)
        if (!node->output_shape(i).fully_known())
          run_shown.failures.push_back(concat(node->name(), ": the shape of output ", i,
                                              " is inferred only as ", node->output_shape(i)));
  evaluator reference{used_graph, target_device};
  reference.observe([&](const node& node, const auto& inputs, const auto&) {
    if (&node.op() == &op)
      run_shown.samples.push_back(
          {&op, without_deduced(op, node.attrs()), inputs, tables_of(node, reference)});
  });
  run_all(*parsed, reference, run_shown.failures);
  if (shapes == placeholders::as_written) { // once more, with memory reused as in a program
    evaluator reusing{used_graph, target_device};
    run_all(*parsed, reusing, run_shown.failures);
  }
  return run_shown;
}

result<rebuilt> rebuild(const registry& ops, const op_sample& sample, bool shapes_known,
                        const std::vector<bool>& constant) {
  rebuilt result;
  result.owned_graph = std::make_unique<graph>(ops);
  std::vector<edge> inputs;
  auto names = type_attrs_of_inputs(sample);
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const auto& value = sample.inputs[i];
    auto dims =
        shapes_known && !value.empty() ? partial_shape{value.dims()} : partial_shape::unknown();
    if (auto table = sample.tables.find(i); table != sample.tables.end()) {
      TROUPE_ASSIGN(auto* maker, result.owned_graph->add(
                                     {.op = table->second.op, .attrs = table->second.attrs}));
      result.tables.emplace_back(maker, table->second.pairs);
      inputs.push_back({maker, 0});
    } else if (names.size() == sample.op->inputs.size() &&
               (sample.op->inputs[i].ref || sample.op->inputs[i].handle)) {
      auto type = value.type();
      for (size_t k = 0; type == dtype::none && k < names.size(); ++k)
        if (names[k] == names[i])
          type = sample.inputs[k].type();
      if (type == dtype::none)
        type = dtype::f32;
      TROUPE_ASSIGN(auto* made_variable,
                    result.owned_graph->add(
                        {.op = "VariableV2", .attrs = {{"dtype", type}, {"shape", dims}}}));
      result.variables.emplace_back(made_variable, value);
      inputs.push_back({made_variable, 0});
    } else if (i < constant.size() && constant[i] && value.type() != dtype::variant) {
      TROUPE_ASSIGN(auto* known,
                    result.owned_graph->add(
                        {.op = "Const", .attrs = {{"value", value}, {"dtype", value.type()}}}));
      inputs.push_back({known, 0});
    } else {
      TROUPE_ASSIGN(auto* fed,
                    result.owned_graph->add({.op = "Placeholder",
                                             .attrs = {{"dtype", value.type()}, {"shape", dims}}}));
      inputs.push_back({fed, 0});
      result.feeds.emplace_back(inputs.back(), value);
    }
  }
  TROUPE_ASSIGN(result.sample_node,
                result.owned_graph->add(
                    {.op = std::string{sample.op->name}, .inputs = inputs, .attrs = sample.attrs}));
  return result;
}

result<std::vector<tensor>> run(rebuilt& built, device& target_device) {
  evaluator reference{*built.owned_graph, target_device};
  for (const auto& [variable, value] : built.variables)
    if (!value.empty())
      TROUPE_TRY(reference.variable_of(*variable).assign(value));
  for (const auto& [table, pairs] : built.tables)
    if (!pairs.keys.empty())
      TROUPE_TRY(static_cast<ops::lookup_table&>(reference.state_of(*table))
                     .replace(pairs, heap_allocator()));
  std::vector<edge> fetches;
  for (int i = 0; i < built.sample_node->outputs(); ++i)
    if (!built.sample_node->output_is_ref(i) ||
        !built.variables.empty()) // a new variable has no value yet
      fetches.push_back(built.sample_node->output(i));
  return reference.run(built.feeds, fetches, {built.sample_node});
}

std::vector<std::string> type_attrs_of_inputs(const op_sample& sample) {
  std::vector<std::string> names;
  auto list = [&](const port& op_port) { return is_list(*sample.op, op_port); };
  // Where several ports are lists, they have the same length.
  auto lists = static_cast<size_t>(std::ranges::count_if(sample.op->inputs, list));
  auto other_ports = sample.op->inputs.size() - lists;
  for (const auto& port : sample.op->inputs) {
    auto* type = sample.op->find_attr(port.type);
    auto count = list(port) ? (sample.inputs.size() - other_ports) / lists : 1;
    auto typed = type && type->kind == attr_kind::type;
    names.insert(names.end(), count, typed ? std::string{port.type} : std::string{});
  }
  return names;
}

op_sample with_type(const op_sample& sample, std::string_view type_attr, dtype type) {
  auto changed = sample;
  if (auto entry = changed.attrs.find(type_attr); entry != changed.attrs.end())
    entry->second = type;
  auto names = type_attrs_of_inputs(sample);
  for (size_t i = 0; i < changed.inputs.size(); ++i)
    if (names[i] == type_attr && !changed.inputs[i].empty())
      changed.inputs[i] = converted(changed.inputs[i], type);
  auto is_one_of = [&](auto... values) { return ((type_attr == values) || ...); };
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
  auto target = *tensor::make(type, from.dims());
  with_cpp_type(type, [&]<class To>(To) {
    std::ranges::transform(values, target.data<To>(), from_double<To>);
  });
  return target;
}

} // namespace troupe::test
