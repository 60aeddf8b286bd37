#include "troupe/serialization/text/text_graph.hpp"

#include "troupe/runtime/functions/complete_control_flow.hpp"
#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/colocation.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/graph/transfer_attr.hpp"
#include "troupe/serialization/text/close_to.hpp"
#include "troupe/serialization/text/text_names.hpp"
#include "troupe/serialization/text/text_scanner.hpp"
#include "troupe/serialization/wire/origin.hpp"

#include <map>

namespace troupe {
namespace {

constexpr error_kind error_kinds[] = {
    error_kind::cancelled,           error_kind::invalid_argument, error_kind::deadline_exceeded,
    error_kind::not_found,           error_kind::already_exists,   error_kind::resource_exhausted,
    error_kind::failed_precondition, error_kind::aborted,          error_kind::out_of_range,
    error_kind::unimplemented,       error_kind::internal,         error_kind::unavailable,
    error_kind::data_loss,
};

class text_graph_parser {
public:
  text_graph_parser(std::string_view text, std::string_view file, graph& target,
                    const text_limits& limits)
      : in_(text, file, limits.literal_bytes), file_(file), ops_(target.ops()), names_(target) {}

  result<text_graph> parse() {
    while (in_.next_statement())
      if (auto outcome = parse_statement(); !outcome) {
        if (!graph_refused_)
          return outcome;
        return parse_expected_failure(std::move(outcome));
      }
    end_run();
    return std::move(parsed_);
  }

private:
  // A keyword starts a statement unless it is the name of a new node: `feed = Const ...`.
  bool take_statement(std::string_view keyword) {
    auto start = in_.position();
    if (in_.take_word(keyword) && !in_.at('='))
      return true;
    in_.back_to(start);
    return false;
  }

  status parse_statement() {
    auto start = in_.position();
    auto line = in_.line_of(start);
    if (take_statement("run")) {
      if (!is_run_started())
        return in_.error_at(start, "there is nothing to run before this line");
      end_run();
      return in_.end_statement();
    }
    if (take_statement("body"))
      return parse_function();
    if (take_statement("feed"))
      TROUPE_TRY(parse_feed(start));
    else if (take_statement("fetch"))
      TROUPE_TRY(parse_fetch(line));
    else if (take_statement("target"))
      TROUPE_TRY(parse_target());
    else if (take_statement("error"))
      TROUPE_TRY(parse_error(start));
    else
      return parse_node(start);
    if (run_.line == 0)
      run_.line = line;
    return in_.end_statement();
  }

  bool is_run_started() const { return run_.line != 0; }

  void end_run() {
    if (is_run_started())
      parsed_.runs.push_back(std::exchange(run_, {}));
  }

  status parse_feed(size_t start) {
    TROUPE_ASSIGN(auto target_edge, parse_edge("the name of a node to feed"));
    for (const auto& other : run_.feeds)
      if (is_same_edge(other.fed_edge, target_edge))
        return in_.error_at(start, "'", target_edge, "' is fed already in this run");
    TROUPE_TRY(in_.expect('=', "'=' and the value to feed"));
    TROUPE_ASSIGN(auto value, in_.literal());
    run_.feeds.push_back({target_edge, std::move(value)});
    return {};
  }

  status parse_fetch(int line) {
    TROUPE_ASSIGN(auto from, parse_edge("the name of a node to fetch"));
    text_fetch fetch{from, {}, 0, line};
    auto with_tolerance = in_.take('~');
    if (with_tolerance) {
      auto start = in_.position();
      TROUPE_ASSIGN(fetch.tolerance, in_.real());
      if (!(fetch.tolerance >= 0))
        return in_.error_at(start, "expected a tolerance of at least 0");
      TROUPE_TRY(in_.expect('=', "'=' and the expected value"));
    }
    if (with_tolerance || in_.take('=')) {
      TROUPE_ASSIGN(fetch.expected, in_.literal());
      if (!with_tolerance)
        fetch.tolerance = default_tolerance(fetch.expected->type());
    }
    run_.fetches.push_back(std::move(fetch));
    return {};
  }

  status parse_target() {
    TROUPE_ASSIGN(auto* target, parse_existing_node("the name of a node to run"));
    run_.targets.push_back(target);
    return {};
  }

  status parse_error(size_t start) {
    if (run_.error)
      return in_.error_at(start, "this run has an error statement already");
    TROUPE_ASSIGN(run_.error, parse_expected_error(in_.line_of(start)));
    return {};
  }

  result<text_error> parse_expected_error(int line) {
    auto start = in_.position();
    TROUPE_ASSIGN(auto kind_name, in_.name("a kind of error, such as invalid_argument"));
    for (auto kind : error_kinds)
      if (to_string(kind) == kind_name) {
        TROUPE_ASSIGN(auto part, in_.quoted());
        return text_error{kind, std::move(part), line};
      }
    std::vector<std::string_view> known;
    for (auto kind : error_kinds)
      known.push_back(to_string(kind));
    return in_.error_at(start, "'", kind_name, "' is not a kind of error",
                        did_you_mean(kind_name, known));
  }

  // Building the graph failed. Succeeds if an error statement further down expects this failure.
  result<text_graph> parse_expected_failure(status build_failure) {
    for (in_.skip_line(); in_.next_statement(); in_.skip_line()) {
      auto start = in_.position();
      if (!take_statement("error"))
        continue;
      TROUPE_ASSIGN(auto expected, parse_expected_error(in_.line_of(start)));
      TROUPE_TRY(in_.end_statement());
      TROUPE_TRY(check_error(expected, build_failure).with_context(in_.place(start)));
      text_graph expected_graph;
      expected_graph.build_error = std::move(expected);
      return expected_graph;
    }
    return build_failure;
  }

  status refuse(size_t start, status reason) {
    graph_refused_ = true;
    return std::move(reason).with_context(in_.place(start));
  }

  // Parses `x` or `x:1`. `expected` describes the edge in errors.
  result<edge> parse_edge(std::string_view expected) {
    auto start = in_.position();
    TROUPE_ASSIGN(auto name, in_.name(expected));
    TROUPE_ASSIGN(auto* producer, find_node(start, name));
    auto output = producer->name();
    if (in_.take(':')) {
      TROUPE_ASSIGN(auto index, in_.integer());
      output += concat(':', index);
    }
    auto found_edge = producer->graph().find_edge(output);
    if (!found_edge)
      return found_edge.status().with_context(in_.place(start));
    return *found_edge;
  }

  result<node*> parse_existing_node(std::string_view expected) {
    auto start = in_.position();
    TROUPE_ASSIGN(auto name, in_.name(expected));
    return find_node(start, name);
  }

  result<node*> find_node(size_t start, std::string_view name) const {
    auto found_node = names_.find(name);
    if (!found_node)
      return found_node.status().with_context(in_.place(start));
    return found_node;
  }

  status parse_node(size_t start) {
    TROUPE_ASSIGN(auto name, in_.name("a statement or the name of a new node"));
    TROUPE_TRY(in_.expect('=', "'=' after the name of a new node"));
    if (in_.at_literal()) {
      auto literal_start = in_.position();
      TROUPE_ASSIGN(auto value, in_.literal());
      TROUPE_TRY(add_constant(literal_start, std::move(value), std::move(name), true));
      return in_.end_statement();
    }
    if (take_block("if"))
      return parse_branches(start, std::move(name));
    if (take_block("while"))
      return parse_loop(start, std::move(name));
    node_spec spec;
    spec.name = std::move(name);
    auto op_start = in_.position();
    TROUPE_ASSIGN(spec.op, in_.name("an op or a literal"));
    if (in_.take('('))
      TROUPE_TRY(parse_inputs(spec));
    auto op = ops_.find_op(spec.op);
    if (!op)
      return refuse(op_start, op.status());
    TROUPE_TRY(parse_attributes(**op, spec, true));
    return add_node(start, std::move(spec)).status();
  }

  bool take_block(std::string_view keyword) {
    auto start = in_.position();
    if (in_.take_word(keyword) && in_.at('('))
      return true;
    in_.back_to(start);
    return false;
  }

  // `name = if (x) {`, nodes, `return y`, `} else {`, nodes, `return z`, `}`.
  status parse_branches(size_t start, std::string name) {
    node_spec spec;
    spec.name = std::move(name);
    TROUPE_TRY(in_.expect('(', "'(' and the condition"));
    TROUPE_ASSIGN(auto condition, parse_input());
    spec.inputs.push_back(condition);
    TROUPE_TRY(in_.expect(')', "')' after the condition"));
    std::vector<built_function> functions(2);
    TROUPE_ASSIGN(functions[0], parse_block({}, {}));
    auto captured = functions[0].body->captured();
    if (in_.take_word("else")) {
      TROUPE_ASSIGN(functions[1], parse_block({}, captured));
    } else if (functions[0].results.empty()) {
      functions[1].body = std::make_unique<function_body>(names_.innermost_graph());
      for (const auto& captured_edge : captured)
        TROUPE_TRY(functions[1].body->capture(captured_edge).status());
      functions[1].body->leave();
    } else {
      return in_.unexpected("'else' and the other branch");
    }
    if (auto outcome = complete_branches(spec, std::move(functions), false); !outcome)
      return refuse(start, std::move(outcome));
    return add_with_functions(start, std::move(spec));
  }

  struct loop_variable {
    std::string name;
    size_t start;
    dtype type;
    partial_shape dims;
  };

  // `name = while (i = i32(0), x: f32? = y) {`, nodes, `return condition`, `} do {`, nodes,
  // `return next, z`, `}`.
  status parse_loop(size_t start, std::string name) {
    node_spec spec;
    spec.name = std::move(name);
    std::vector<loop_variable> variables;
    TROUPE_TRY(in_.expect('(', "'(' and the loop variables"));
    if (!in_.take(')')) {
      do
        TROUPE_TRY(parse_variable(spec, variables));
      while (in_.take(','));
      TROUPE_TRY(in_.expect(')', "',' or ')'"));
    }
    TROUPE_ASSIGN(auto condition, parse_block(variables, {}));
    if (!in_.take_word("do"))
      return in_.unexpected("'do' and the body of the loop");
    auto body_start = in_.position();
    TROUPE_ASSIGN(auto body, parse_block(variables, condition.body->captured()));
    if (body.results.size() != variables.size())
      return in_.error_at(body_start,
                          "the body returns new values of all loop variables: expected ",
                          variables.size(), ", got ", body.results.size());
    if (auto outcome = complete_loop(spec, std::move(condition), std::move(body)); !outcome)
      return refuse(start, std::move(outcome));
    return add_with_functions(start, std::move(spec));
  }

  // `i = i32(0)`, or `x: f32[-1] = y` for a shape that iterations may change.
  status parse_variable(node_spec& spec, std::vector<loop_variable>& variables) {
    loop_variable variable;
    variable.start = in_.position();
    TROUPE_ASSIGN(variable.name, in_.name("the name of a loop variable"));
    for (const auto& other : variables)
      if (other.name == variable.name)
        return in_.error_at(variable.start, "there is a loop variable '", variable.name,
                            "' already");
    auto is_typed = in_.take(':');
    if (is_typed) {
      TROUPE_ASSIGN(variable.type, in_.type());
      TROUPE_ASSIGN(variable.dims, in_.partial());
    }
    TROUPE_TRY(in_.expect('=', "'=' and the first value of the loop variable"));
    TROUPE_ASSIGN(auto first, parse_input());
    if (!is_typed) {
      variable.type = first.type();
      variable.dims = first.dims();
    }
    spec.inputs.push_back(first);
    variables.push_back(std::move(variable));
    return {};
  }

  // `{`, nodes, `return a, b`, `}`: a function that captures the edges it uses from outside.
  result<built_function> parse_block(const std::vector<loop_variable>& variables,
                                     const std::vector<edge>& captured) {
    constexpr size_t max_depth = 100; // the parser recurses into nested blocks
    if (names_.depth() == max_depth)
      return in_.unexpected(concat("no more than ", max_depth, " blocks within each other"));
    built_function function{std::make_unique<function_body>(names_.innermost_graph()), {}};
    names_.enter(*function.body, false);
    for (const auto& variable : variables) {
      names_.add_argument(variable.name, function.body->add_argument(variable.type, variable.dims));
      if (auto noted = function.body->take_error(); !noted)
        return refuse(variable.start, std::move(noted));
    }
    for (const auto& captured_edge : captured)
      TROUPE_TRY(function.body->capture(captured_edge).status());
    auto start = in_.position();
    TROUPE_TRY(parse_function_nodes(function.results));
    names_.leave();
    for (auto& result : function.results) {
      auto inner_edge = function.body->localize(result);
      if (!inner_edge)
        return refuse(start, inner_edge.status());
      result = *inner_edge;
    }
    function.body->leave();
    return function;
  }

  status add_with_functions(size_t start, node_spec spec) {
    auto op = ops_.find_op(spec.op);
    if (!op)
      return refuse(start, op.status());
    TROUPE_TRY(parse_attributes(**op, spec, true));
    return add_node(start, std::move(spec)).status();
  }

  result<node*> add_node(size_t start, node_spec spec) {
    auto origin = concat(file_, ':', in_.line_of(start));
    auto added = add_with_origin(names_.innermost_graph(), std::move(spec), std::move(origin));
    if (!added)
      return refuse(start, added.status());
    return added;
  }

  // Adds a node for a literal. The node of an input has an empty name.
  result<node*> add_constant(size_t start, tensor value, std::string name, bool is_statement) {
    auto op = ops_.find_op("Const");
    if (!op)
      return refuse(start, op.status());
    node_spec spec;
    spec.op = "Const";
    spec.name = std::move(name);
    if ((*op)->find_attr("dtype"))
      spec.attrs.emplace("dtype", value.type());
    spec.attrs.emplace("value", std::move(value));
    if (is_statement)
      TROUPE_TRY(parse_attributes(**op, spec, false));
    return add_node(start, std::move(spec));
  }

  status parse_inputs(node_spec& spec) {
    if (in_.take(')'))
      return {};
    do {
      if (in_.take('^')) {
        TROUPE_ASSIGN(auto* control, parse_existing_node("the name of a node after '^'"));
        spec.controls.push_back(control);
      } else {
        TROUPE_ASSIGN(auto from, parse_input());
        spec.inputs.push_back(from);
      }
    } while (in_.take(','));
    return in_.expect(')', "',' or ')'");
  }

  result<edge> parse_input() {
    if (!in_.at_literal())
      return parse_edge("an input: a node's name, '^' and a name, or a literal");
    auto start = in_.position();
    TROUPE_ASSIGN(auto value, in_.literal());
    TROUPE_ASSIGN(auto* literal_node, add_constant(start, std::move(value), {}, false));
    return literal_node->output(0);
  }

  // Parses attributes and the device, which follow the inputs in any order.
  status parse_attributes(const op_def& op, node_spec& spec, bool with_attrs) {
    for (;;) {
      if (in_.take('@')) {
        auto start = in_.position();
        if (!spec.device.empty())
          return in_.error_at(start, "the node has a device already");
        TROUPE_ASSIGN(spec.device, in_.quoted());
        continue;
      }
      if (!with_attrs || in_.end_statement().ok())
        return in_.end_statement();
      auto start = in_.position();
      TROUPE_ASSIGN(auto name, in_.name("an attribute, '@' and a device, or the end of the line"));
      TROUPE_TRY(in_.expect('=', "'=' after an attribute's name"));
      const auto* attr = op.find_attr(name);
      if (!attr && (name == colocation_attr || name == transfer_attr)) { // of any op
        auto kind = name == colocation_attr ? attr_kind::texts : attr_kind::text;
        TROUPE_ASSIGN(auto value, in_.attr(kind));
        auto [added, is_new] = spec.attrs.emplace(std::move(name), std::move(value));
        if (!is_new)
          return in_.error_at(start, "the attribute '", added->first, "' is given twice");
        continue;
      }
      if (!attr) {
        std::vector<std::string_view> known_names;
        for (const auto& declared : op.attrs)
          known_names.push_back(declared.name);
        return refuse(start, invalid(op.name, " has no attribute '", name, "'",
                                     did_you_mean(name, known_names)));
      }
      TROUPE_ASSIGN(auto value, parse_attribute(*attr));
      if (!spec.attrs.emplace(std::move(name), std::move(value)).second)
        return in_.error_at(start, "the attribute '", attr->name, "' is given twice");
    }
  }

  result<attr_value> parse_attribute(const attr_def& attr) {
    if (attr.kind == attr_kind::function) {
      TROUPE_ASSIGN(auto function, parse_function_name());
      return attr_value{std::move(function)};
    }
    if (attr.kind != attr_kind::functions)
      return in_.attr(attr.kind);
    std::vector<function_value> functions;
    auto listed = in_.list([&]() -> status {
      TROUPE_ASSIGN(auto function, parse_function_name());
      functions.push_back(std::move(function));
      return {};
    });
    TROUPE_TRY(std::move(listed));
    return attr_value{std::move(functions)};
  }

  result<function_value> parse_function_name() {
    auto start = in_.position();
    TROUPE_ASSIGN(auto name, in_.name("the name of a function"));
    if (auto entry = functions_.find(name); entry != functions_.end())
      return entry->second;
    std::vector<std::string_view> known_names;
    for (const auto& [known_name, body] : functions_)
      known_names.push_back(known_name);
    return failure(error_kind::not_found, in_.place(start), ": there is no function '", name,
                   "' above this line", did_you_mean(name, known_names));
  }

  // `body name(x: f32[-1], v: variable f32[]) {`, nodes, `return y, z`, `}`.
  status parse_function() {
    auto start = in_.position();
    TROUPE_ASSIGN(auto name, in_.name("the name of a function"));
    if (functions_.contains(name))
      return in_.error_at(start, "there is a function '", name, "' already");
    functions_.emplace(name, function_value{name, {}}); // the function may call itself
    auto body = std::make_unique<function_body>(names_.innermost_graph());
    names_.enter(*body, true);
    std::vector<edge> results;
    TROUPE_TRY(parse_arguments());
    TROUPE_TRY(parse_function_nodes(results));
    names_.leave();
    auto finished = function_body::finish(std::move(body), name, results);
    if (!finished)
      return refuse(start, finished.status());
    functions_[name].body = *std::move(finished);
    return in_.end_statement();
  }

  status parse_arguments() {
    TROUPE_TRY(in_.expect('(', "'(' and the arguments"));
    if (in_.take(')'))
      return {};
    do
      TROUPE_TRY(parse_argument());
    while (in_.take(','));
    return in_.expect(')', "',' or ')'");
  }

  status parse_function_nodes(std::vector<edge>& results) {
    TROUPE_TRY(in_.expect('{', "'{' and the nodes of the function"));
    for (bool returned = false; in_.next_statement();) {
      auto start = in_.position();
      if (in_.take('}'))
        return {};
      if (returned)
        return in_.unexpected("'}' after the return statement");
      if (take_statement("body"))
        return in_.error_at(start, "a function within a function: write it before this one");
      if (!take_statement("return")) {
        TROUPE_TRY(parse_node(start));
        continue;
      }
      returned = true;
      if (in_.end_statement().ok())
        continue;
      do {
        TROUPE_ASSIGN(auto result, parse_edge("the name of a node to return"));
        results.push_back(result);
      } while (in_.take(','));
      TROUPE_TRY(in_.end_statement());
    }
    return in_.unexpected("'}'");
  }

  status parse_argument() {
    auto start = in_.position();
    TROUPE_ASSIGN(auto name, in_.name("the name of an argument"));
    TROUPE_TRY(in_.expect(':', "':' and the argument's type"));
    auto& function = static_cast<function_body&>(names_.innermost_graph());
    auto add_argument = [&](const result<edge>& new_argument) -> status {
      if (!new_argument || !*new_argument)
        return refuse(start, new_argument ? function.take_error() : new_argument.status());
      if (!names_.add_argument(name, *new_argument))
        return in_.error_at(start, "there is an argument '", name, "' already");
      return {};
    };
    for (auto kind : {resource::table, resource::queue, resource::accumulator, resource::barrier,
                      resource::mutex, resource::reader})
      if (in_.take_word(to_string(kind)))
        return add_argument(function.add_state_argument(kind, dtype::none, {}));
    auto is_variable = in_.take_word("variable");
    TROUPE_ASSIGN(auto type, in_.type());
    TROUPE_ASSIGN(auto dims, in_.partial());
    return add_argument(is_variable ? function.add_state_argument(resource::variable, type, dims)
                                    : result<edge>{function.add_argument(type, dims)});
  }

  text_scanner in_;
  std::string_view file_;
  const registry& ops_;
  text_names names_;
  std::map<std::string, function_value, std::less<>> functions_;
  text_graph parsed_;
  text_run run_;
  bool graph_refused_ = false;
};

} // namespace

result<text_graph> parse_text_graph(std::string_view text, std::string_view file, graph& target,
                                    const text_limits& limits) {
  return text_graph_parser{text, file, target, limits}.parse();
}

status check_error(const text_error& promised, const status& actual) {
  if (actual.ok())
    return failure(error_kind::failed_precondition, "expected the error ", to_string(promised.kind),
                   " \"", promised.part, "\", got success");
  if (actual.kind() != promised.kind || actual.message().find(promised.part) == std::string::npos)
    return failure(error_kind::failed_precondition, "expected the error ", to_string(promised.kind),
                   " \"", promised.part, "\", got ", actual);
  return {};
}

} // namespace troupe
