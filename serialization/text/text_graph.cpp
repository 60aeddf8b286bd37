#include "troupe/serialization/text/text_graph.hpp"

#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/functions/nest.hpp"
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
  text_graph_parser(std::string_view text, std::string_view file, graph& into,
                    const text_limits& limits)
      : in_(text, file, limits.literal_bytes), file_(file), ops_(into.ops()), names_(into) {}

  result<text_graph> parse() {
    while (in_.next_statement())
      if (auto done = statement(); !done) {
        if (!graph_refused_)
          return done;
        return promised_refusal(std::move(done));
      }
    end_run();
    return std::move(parsed_);
  }

private:
  // A word starts a statement of its own unless it is a name that gets a node: `feed = Const ...`.
  bool take_statement(std::string_view keyword) {
    auto start = in_.position();
    if (in_.take_word(keyword) && !in_.at('='))
      return true;
    in_.back_to(start);
    return false;
  }

  status statement() {
    auto start = in_.position();
    auto line = in_.line_of(start);
    if (take_statement("run")) {
      if (!started())
        return in_.error_at(start, "there is nothing to run before this line");
      end_run();
      return in_.end_statement();
    }
    if (take_statement("body"))
      return body();
    if (take_statement("feed"))
      TROUPE_TRY(feed(start));
    else if (take_statement("fetch"))
      TROUPE_TRY(fetch(line));
    else if (take_statement("target"))
      TROUPE_TRY(target());
    else if (take_statement("error"))
      TROUPE_TRY(error(start));
    else
      return node_statement(start);
    if (run_.line == 0)
      run_.line = line;
    return in_.end_statement();
  }

  bool started() const { return run_.line != 0; }

  void end_run() {
    if (started())
      parsed_.runs.push_back(std::exchange(run_, {}));
  }

  status feed(size_t start) {
    TROUPE_ASSIGN(auto to, existing_edge("the name of a node to feed"));
    for (const auto& other : run_.feeds)
      if (is_same_edge(other.to, to))
        return in_.error_at(start, "'", to, "' is fed already in this run");
    TROUPE_TRY(in_.expect('=', "'=' and the value to feed"));
    TROUPE_ASSIGN(auto value, in_.literal());
    run_.feeds.push_back({to, std::move(value)});
    return {};
  }

  status fetch(int line) {
    TROUPE_ASSIGN(auto from, existing_edge("the name of a node to fetch"));
    text_fetch wanted{from, {}, 0, line};
    auto with_tolerance = in_.take('~');
    if (with_tolerance) {
      auto at = in_.position();
      TROUPE_ASSIGN(wanted.tolerance, in_.real());
      if (!(wanted.tolerance >= 0))
        return in_.error_at(at, "expected a tolerance of at least 0");
      TROUPE_TRY(in_.expect('=', "'=' and the expected value"));
    }
    if (with_tolerance || in_.take('=')) {
      TROUPE_ASSIGN(wanted.expected, in_.literal());
      if (!with_tolerance)
        wanted.tolerance = default_tolerance(wanted.expected->type());
    }
    run_.fetches.push_back(std::move(wanted));
    return {};
  }

  status target() {
    TROUPE_ASSIGN(auto* to, existing_node("the name of a node to run"));
    run_.targets.push_back(to);
    return {};
  }

  status error(size_t start) {
    if (run_.error)
      return in_.error_at(start, "this run has an error statement already");
    TROUPE_ASSIGN(run_.error, error_promise(in_.line_of(start)));
    return {};
  }

  result<text_error> error_promise(int line) {
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

  // The graph could not be built. That is what an error statement further down may promise.
  result<text_graph> promised_refusal(status refusal) {
    for (in_.skip_line(); in_.next_statement(); in_.skip_line()) {
      auto start = in_.position();
      if (!take_statement("error"))
        continue;
      TROUPE_ASSIGN(auto promised, error_promise(in_.line_of(start)));
      TROUPE_TRY(in_.end_statement());
      TROUPE_TRY(check_error(promised, refusal).within(in_.place(start)));
      text_graph parsed;
      parsed.build_error = std::move(promised);
      return parsed;
    }
    return refusal;
  }

  status refused(size_t at, status why) {
    graph_refused_ = true;
    return std::move(why).within(in_.place(at));
  }

  // `x`, `x:1`.
  result<edge> existing_edge(std::string_view what) {
    auto start = in_.position();
    TROUPE_ASSIGN(auto name, in_.name(what));
    TROUPE_ASSIGN(auto* of, known_node(start, name));
    auto output = of->name();
    if (in_.take(':')) {
      TROUPE_ASSIGN(auto index, in_.integer());
      output += concat(':', index);
    }
    auto found = of->graph().find_edge(output);
    if (!found)
      return found.status().within(in_.place(start));
    return *found;
  }

  result<node*> existing_node(std::string_view what) {
    auto start = in_.position();
    TROUPE_ASSIGN(auto name, in_.name(what));
    return known_node(start, name);
  }

  result<node*> known_node(size_t at, std::string_view name) const {
    auto found = names_.find(name);
    if (!found)
      return found.status().within(in_.place(at));
    return found;
  }

  status node_statement(size_t start) {
    TROUPE_ASSIGN(auto name, in_.name("a statement or the name of a new node"));
    TROUPE_TRY(in_.expect('=', "'=' after the name of a new node"));
    if (in_.at_literal()) {
      auto at = in_.position();
      TROUPE_ASSIGN(auto value, in_.literal());
      TROUPE_TRY(constant(at, std::move(value), std::move(name), true));
      return in_.end_statement();
    }
    if (take_block("if"))
      return branches(start, std::move(name));
    if (take_block("while"))
      return loop(start, std::move(name));
    node_spec spec;
    spec.name = std::move(name);
    auto op_at = in_.position();
    TROUPE_ASSIGN(spec.op, in_.name("an op or a literal"));
    if (in_.take('('))
      TROUPE_TRY(inputs(spec));
    auto op = ops_.find_op(spec.op);
    if (!op)
      return refused(op_at, op.status());
    TROUPE_TRY(attributes(**op, spec, true));
    return add(start, std::move(spec)).status();
  }

  bool take_block(std::string_view keyword) {
    auto start = in_.position();
    if (in_.take_word(keyword) && in_.at('('))
      return true;
    in_.back_to(start);
    return false;
  }

  // `name = if (x) {`, nodes, `return y`, `} else {`, nodes, `return z`, `}`.
  status branches(size_t start, std::string name) {
    node_spec spec;
    spec.name = std::move(name);
    TROUPE_TRY(in_.expect('(', "'(' and what the branch depends on"));
    TROUPE_ASSIGN(auto which, input());
    spec.inputs.push_back(which);
    TROUPE_TRY(in_.expect(')', "')' after what the branch depends on"));
    std::vector<built_function> both(2);
    TROUPE_ASSIGN(both[0], block({}, {}));
    auto captured = both[0].body->captured();
    if (in_.take_word("else")) {
      TROUPE_ASSIGN(both[1], block({}, captured));
    } else if (both[0].results.empty()) {
      both[1].body = std::make_unique<function_body>(names_.here());
      for (const auto& one : captured)
        TROUPE_TRY(both[1].body->capture(one).status());
      both[1].body->leave();
    } else {
      return in_.unexpected("'else' and what there is otherwise");
    }
    if (auto done = complete_branches(spec, std::move(both), false); !done)
      return refused(start, std::move(done));
    return add_with_functions(start, std::move(spec));
  }

  struct loop_variable {
    std::string name;
    size_t at;
    dtype type;
    partial_shape dims;
  };

  // `name = while (i = i32(0), x: f32? = y) {`, nodes, `return more`, `} do {`, nodes,
  // `return next, z`, `}`.
  status loop(size_t start, std::string name) {
    node_spec spec;
    spec.name = std::move(name);
    std::vector<loop_variable> variables;
    TROUPE_TRY(in_.expect('(', "'(' and the loop variables"));
    if (!in_.take(')')) {
      do
        TROUPE_TRY(variable(spec, variables));
      while (in_.take(','));
      TROUPE_TRY(in_.expect(')', "',' or ')'"));
    }
    TROUPE_ASSIGN(auto condition, block(variables, {}));
    if (!in_.take_word("do"))
      return in_.unexpected("'do' and what a turn of the loop does");
    auto turn_at = in_.position();
    TROUPE_ASSIGN(auto turn, block(variables, condition.body->captured()));
    if (turn.results.size() != variables.size())
      return in_.error_at(turn_at, "a turn returns new values of all loop variables: expected ",
                          variables.size(), ", got ", turn.results.size());
    if (auto done = complete_loop(spec, std::move(condition), std::move(turn)); !done)
      return refused(start, std::move(done));
    return add_with_functions(start, std::move(spec));
  }

  // `i = i32(0)`, or `x: f32[-1] = y` for a shape that turns may change.
  status variable(node_spec& spec, std::vector<loop_variable>& all) {
    loop_variable made;
    made.at = in_.position();
    TROUPE_ASSIGN(made.name, in_.name("the name of a loop variable"));
    for (const auto& other : all)
      if (other.name == made.name)
        return in_.error_at(made.at, "there is a loop variable '", made.name, "' already");
    auto is_typed = in_.take(':');
    if (is_typed) {
      TROUPE_ASSIGN(made.type, in_.type());
      TROUPE_ASSIGN(made.dims, in_.partial());
    }
    TROUPE_TRY(in_.expect('=', "'=' and the first value of the loop variable"));
    TROUPE_ASSIGN(auto first, input());
    if (!is_typed) {
      made.type = first.type();
      made.dims = first.dims();
    }
    spec.inputs.push_back(first);
    all.push_back(std::move(made));
    return {};
  }

  // `{`, nodes, `return a, b`, `}`: a function that takes what it uses from outside.
  result<built_function> block(const std::vector<loop_variable>& variables,
                               const std::vector<edge>& captured) {
    constexpr size_t deepest = 100; // reading one within another takes the stack
    if (names_.depth() == deepest)
      return in_.unexpected(concat("no more than ", deepest, " blocks within each other"));
    built_function made{std::make_unique<function_body>(names_.here()), {}};
    names_.enter(*made.body, false);
    for (const auto& each : variables) {
      names_.add_argument(each.name, made.body->add_argument(each.type, each.dims));
      if (auto noted = made.body->take_note(); !noted)
        return refused(each.at, std::move(noted));
    }
    for (const auto& one : captured)
      TROUPE_TRY(made.body->capture(one).status());
    auto start = in_.position();
    TROUPE_TRY(read_block(made.results));
    names_.leave();
    for (auto& one : made.results) {
      auto brought = made.body->own(one);
      if (!brought)
        return refused(start, brought.status());
      one = *brought;
    }
    made.body->leave();
    return made;
  }

  status add_with_functions(size_t start, node_spec spec) {
    auto op = ops_.find_op(spec.op);
    if (!op)
      return refused(start, op.status());
    TROUPE_TRY(attributes(**op, spec, true));
    return add(start, std::move(spec)).status();
  }

  result<node*> add(size_t start, node_spec spec) {
    auto origin = concat(file_, ':', in_.line_of(start));
    auto added = add_with_origin(names_.here(), std::move(spec), std::move(origin));
    if (!added)
      return refused(start, added.status());
    return added;
  }

  // A literal gets a node; as an input it has no name of its own.
  result<node*> constant(size_t start, tensor value, std::string name, bool statement) {
    auto op = ops_.find_op("Const");
    if (!op)
      return refused(start, op.status());
    node_spec spec;
    spec.op = "Const";
    spec.name = std::move(name);
    if ((*op)->find_attr("dtype"))
      spec.attrs.emplace("dtype", value.type());
    spec.attrs.emplace("value", std::move(value));
    if (statement)
      TROUPE_TRY(attributes(**op, spec, false));
    return add(start, std::move(spec));
  }

  status inputs(node_spec& spec) {
    if (in_.take(')'))
      return {};
    do {
      if (in_.take('^')) {
        TROUPE_ASSIGN(auto* before, existing_node("the name of a node after '^'"));
        spec.controls.push_back(before);
      } else {
        TROUPE_ASSIGN(auto from, input());
        spec.inputs.push_back(from);
      }
    } while (in_.take(','));
    return in_.expect(')', "',' or ')'");
  }

  result<edge> input() {
    if (!in_.at_literal())
      return existing_edge("an input: a node's name, '^' and a name, or a literal");
    auto at = in_.position();
    TROUPE_ASSIGN(auto value, in_.literal());
    TROUPE_ASSIGN(auto* made, constant(at, std::move(value), {}, false));
    return made->output(0);
  }

  // What follows the inputs: attributes and the device, in any order.
  status attributes(const op_def& op, node_spec& spec, bool with_attrs) {
    for (;;) {
      if (in_.take('@')) {
        auto at = in_.position();
        if (!spec.device.empty())
          return in_.error_at(at, "the node has a device already");
        TROUPE_ASSIGN(spec.device, in_.quoted());
        continue;
      }
      if (!with_attrs || in_.end_statement().ok())
        return in_.end_statement();
      auto at = in_.position();
      TROUPE_ASSIGN(auto name, in_.name("an attribute, '@' and a device, or the end of the line"));
      TROUPE_TRY(in_.expect('=', "'=' after an attribute's name"));
      const auto* attr = op.find_attr(name);
      if (!attr && (name == colocation_attr || name == transfer_attr)) { // of any op
        auto kind = name == colocation_attr ? attr_kind::texts : attr_kind::text;
        TROUPE_ASSIGN(auto value, in_.attr(kind));
        auto [added, is_new] = spec.attrs.emplace(std::move(name), std::move(value));
        if (!is_new)
          return in_.error_at(at, "the attribute '", added->first, "' is given twice");
        continue;
      }
      if (!attr) {
        std::vector<std::string_view> known;
        for (const auto& each : op.attrs)
          known.push_back(each.name);
        return refused(
            at, invalid(op.name, " has no attribute '", name, "'", did_you_mean(name, known)));
      }
      TROUPE_ASSIGN(auto value, attribute(*attr));
      if (!spec.attrs.emplace(std::move(name), std::move(value)).second)
        return in_.error_at(at, "the attribute '", attr->name, "' is given twice");
    }
  }

  result<attr_value> attribute(const attr_def& attr) {
    if (attr.kind == attr_kind::function) {
      TROUPE_ASSIGN(auto one, function_name());
      return attr_value{std::move(one)};
    }
    if (attr.kind != attr_kind::functions)
      return in_.attr(attr.kind);
    std::vector<function_value> several;
    auto listed = in_.list([&]() -> status {
      TROUPE_ASSIGN(auto one, function_name());
      several.push_back(std::move(one));
      return {};
    });
    TROUPE_TRY(std::move(listed));
    return attr_value{std::move(several)};
  }

  result<function_value> function_name() {
    auto start = in_.position();
    TROUPE_ASSIGN(auto name, in_.name("the name of a function"));
    if (auto it = functions_.find(name); it != functions_.end())
      return it->second;
    std::vector<std::string_view> known;
    for (const auto& [one, body] : functions_)
      known.push_back(one);
    return failure(error_kind::not_found, in_.place(start), ": there is no function '", name,
                   "' above this line", did_you_mean(name, known));
  }

  // `body name(x: f32[-1], v: variable f32[]) {`, nodes, `return y, z`, `}`.
  status body() {
    auto start = in_.position();
    TROUPE_ASSIGN(auto name, in_.name("the name of a function"));
    if (functions_.contains(name))
      return in_.error_at(start, "there is a function '", name, "' already");
    functions_.emplace(name, function_value{name, {}}); // it may call itself
    auto body = std::make_unique<function_body>(names_.here());
    names_.enter(*body, true);
    std::vector<edge> results;
    TROUPE_TRY(arguments());
    TROUPE_TRY(read_block(results));
    names_.leave();
    auto made = function_body::finish(std::move(body), name, results);
    if (!made)
      return refused(start, made.status());
    functions_[name].body = *std::move(made);
    return in_.end_statement();
  }

  status arguments() {
    TROUPE_TRY(in_.expect('(', "'(' and the arguments"));
    if (in_.take(')'))
      return {};
    do
      TROUPE_TRY(argument());
    while (in_.take(','));
    return in_.expect(')', "',' or ')'");
  }

  status read_block(std::vector<edge>& results) {
    TROUPE_TRY(in_.expect('{', "'{' and the nodes of the function"));
    for (bool returned = false; in_.next_statement();) {
      auto start = in_.position();
      if (in_.take('}'))
        return {};
      if (returned)
        return in_.unexpected("'}' after what the function returns");
      if (take_statement("body"))
        return in_.error_at(start, "a function within a function: write it before this one");
      if (!take_statement("return")) {
        TROUPE_TRY(node_statement(start));
        continue;
      }
      returned = true;
      if (in_.end_statement().ok())
        continue;
      do {
        TROUPE_ASSIGN(auto result, existing_edge("the name of a node to return"));
        results.push_back(result);
      } while (in_.take(','));
      TROUPE_TRY(in_.end_statement());
    }
    return in_.unexpected("'}'");
  }

  status argument() {
    auto start = in_.position();
    TROUPE_ASSIGN(auto name, in_.name("the name of an argument"));
    TROUPE_TRY(in_.expect(':', "':' and the argument's type"));
    auto& into = static_cast<function_body&>(names_.here());
    auto add = [&](const result<edge>& made) -> status {
      if (!made || !*made)
        return refused(start, made ? into.take_note() : made.status());
      if (!names_.add_argument(name, *made))
        return in_.error_at(start, "there is an argument '", name, "' already");
      return {};
    };
    for (auto kind : {resource::table, resource::queue, resource::accumulator, resource::barrier,
                      resource::mutex, resource::reader})
      if (in_.take_word(to_string(kind)))
        return add(into.add_state_argument(kind, dtype::none, {}));
    auto is_variable = in_.take_word("variable");
    TROUPE_ASSIGN(auto type, in_.type());
    TROUPE_ASSIGN(auto dims, in_.partial());
    return add(is_variable ? into.add_state_argument(resource::variable, type, dims)
                           : result<edge>{into.add_argument(type, dims)});
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

result<text_graph> parse_text_graph(std::string_view text, std::string_view file, graph& into,
                                    const text_limits& limits) {
  return text_graph_parser{text, file, into, limits}.parse();
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
