#include "troupe/runtime/autodiff/function_gradient.hpp"

#include "troupe/runtime/autodiff/gradient.hpp"
#include "troupe/runtime/autodiff/tuple.hpp"
#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"

#include <algorithm>

namespace troupe {
namespace {

using place_list = std::vector<size_t>;

// Which arguments make a difference to a result, by numbers that gradients flow through.
std::vector<bool> arguments_behind(edge result, size_t arguments) {
  std::vector<bool> found(arguments), seen(result.node->graph().nodes().size());
  std::vector<const node*> open{result.node};
  while (!open.empty()) {
    const auto* at = open.back();
    open.pop_back();
    if (seen[at->index()])
      continue;
    seen[at->index()] = true;
    if (&at->op() == &internal_ops::feed || &at->op() == &internal_ops::variable_argument)
      found[static_cast<size_t>(at->attr<int64_t>("index"))] = true;
    for (const auto& input : at->inputs())
      if (carries_gradients(input.type()))
        open.push_back(input.node);
  }
  return found;
}

std::vector<std::vector<bool>> arguments_behind_results(const function& of) {
  auto open = opened(of);
  std::vector<std::vector<bool>> found;
  for (const auto& one : open.results)
    found.push_back(carries_gradients(one.type()) ? arguments_behind(one, of.arguments())
                                                  : std::vector<bool>(of.arguments()));
  return found;
}

bool takes_gradients(const function& of, size_t argument) {
  return carries_gradients(of.argument(argument).output_type(0)) &&
         (!of.argument_is_ref(argument) ||
          &of.argument(argument).op() == &internal_ops::variable_argument);
}

result<edge> add(graph& to, node_spec spec, int output = 0) {
  TROUPE_ASSIGN(auto* made, to.add(std::move(spec)));
  return made->output(output);
}

result<node*> add_call(graph& to, function_value what, const std::vector<edge>& arguments,
                       std::vector<dtype> results = {}, const node* noinline_as = nullptr) {
  auto acts = !what.body || what.body->has_effects();
  node_spec spec{.op = acts ? "StatefulPartitionedCall" : "PartitionedCall",
                 .inputs = arguments,
                 .attrs = {{"f", std::move(what)},
                           {"_noinline", noinline_as && noinline_as->attr<bool>("_noinline")}}};
  if (!results.empty())
    spec.attrs["Tout"] = std::move(results);
  return to.add(std::move(spec));
}

// Calls the way back with gradients, what was saved, and the arguments that stay, in `kept`.
result<node*> call_back(const function_gradients::two_ways& both,
                        const std::vector<edge>& gradients, edge tuple,
                        const std::map<size_t, edge>& kept, graph& in) {
  auto arguments = gradients;
  TROUPE_ASSIGN(auto items, add_items(tuple, both.saved));
  for (const auto& [is_argument, index] : both.needs)
    arguments.push_back(is_argument ? kept.at(index) : items[index]);
  return add_call(in, {both.backward->name(), both.backward}, arguments);
}

std::vector<edge> outputs_of(node& of) {
  std::vector<edge> all;
  for (int i = 0; i < of.outputs(); ++i)
    all.push_back(of.output(i));
  return all;
}

// The functions of a node as the attributes that they are, with others in their places.
attr_map with_functions(const node& of, const std::vector<function_value>& by) {
  attr_map made;
  size_t next = 0;
  for (const auto& attr : of.op().attrs)
    if (attr.kind == attr_kind::function)
      made[std::string{attr.name}] = by[next++];
    else if (attr.kind == attr_kind::functions)
      made[std::string{attr.name}] = by;
  return made;
}

// A function with a gradient of its own as one that calls it: there its gradient is looked for.
result<std::shared_ptr<const function>> as_call(std::shared_ptr<const function> of) {
  if (!of->gradient().by && of->gradient().to.empty())
    return of;
  auto like = opened(*of);
  auto body = std::make_unique<graph>(of->body().ops());
  std::vector<edge> arguments;
  for (size_t i = 0; i < of->arguments(); ++i) {
    TROUPE_ASSIGN(auto made, add_value_argument(*body, i, like.arguments[i]));
    arguments.push_back(made);
  }
  TROUPE_ASSIGN(auto* called, add_call(*body, {of->name(), of}, arguments));
  return function::make(of->name(), std::move(body), outputs_of(*called));
}

// -- calls ----------------------------------------------------------------------------------------

result<edges> of_recursive_call(gradient_context& at, const function_gradients::recursive& known,
                                const function_value& forward, const function_value& backward) {
  auto& call = at.widens();
  std::vector<dtype> types;
  for (int i = 0; i < call.outputs(); ++i)
    types.push_back(call.output_type(i));
  types.push_back(dtype::variant);
  auto tuple_at = call.outputs();
  TROUPE_TRY(call.graph().widen(call, {}, {{"f", forward}, {"Tout", types}}));
  std::vector<edge> arguments;
  for (auto one : known.from)
    arguments.push_back(at.output_gradient(static_cast<int>(one)));
  arguments.push_back(call.output(tuple_at));
  std::vector<dtype> results;
  for (auto one : known.to)
    results.push_back(at.input(static_cast<int>(one)).type());
  TROUPE_ASSIGN(auto* back, add_call(call.graph(), backward, arguments, results));
  edges found(call.inputs().size());
  for (size_t i = 0; i < known.to.size(); ++i)
    found[known.to[i]] = back->output(static_cast<int>(i));
  return found;
}

// Calls of `self` by its name that are left in a function's two ways: they are not differentiated,
// and get the function as it is.
status give_self(graph& in, const function_value& self);

result<std::shared_ptr<const function>> given_self(std::shared_ptr<const function> to,
                                                   const function_value& self) {
  auto own = to->gradient();
  if (own.by) {
    TROUPE_ASSIGN(own.by, given_self(own.by, self));
  }
  if (own.by == to->gradient().by && !calls_itself(to->body(), self.name))
    return to;
  auto open = opened(*to);
  TROUPE_TRY(give_self(*open.body, self));
  return function::make(to->name(), std::move(open.body), open.results, std::move(own));
}

status give_self(graph& in, const function_value& self) {
  for (const auto& one : in.nodes()) {
    std::vector<function_value> now;
    bool changes = false;
    for (const auto* each : functions_of(*one)) {
      now.push_back(*each);
      if (each->name == self.name) {
        now.back() = self;
      } else if (each->body) {
        TROUPE_ASSIGN(now.back().body, given_self(each->body, self));
      }
      changes = changes || now.back().body != each->body;
    }
    if (changes)
      TROUPE_TRY(in.widen(*one, {}, with_functions(*one, now)));
  }
  return {};
}

// All gradients that there can be, because calls within it may want others than this one.
result<edges> of_first_recursive_call(gradient_context& at, const function_value& value) {
  const auto& of = *value.body;
  function_gradients::recursive known{
      concat(value.name, "_saving"), concat(value.name, "_gradient"), {}, {}};
  for (size_t i = 0; i < of.results(); ++i)
    if (carries_gradients(of.result_type(i)))
      known.from.push_back(i);
  for (size_t i = 0; i < of.arguments(); ++i)
    if (takes_gradients(of, i))
      known.to.push_back(i);
  auto& all = *at.functions();
  auto [entry, fresh] = all.on_their_way.try_emplace(value.name, known);
  if (!fresh)
    return failure(error_kind::unimplemented, "function '", value.name,
                   "' is another one within itself");
  auto both = all.both_ways(of, known.from, known.to, [](size_t) { return false; });
  all.on_their_way.erase(entry);
  TROUPE_TRY(both.status());
  TROUPE_TRY(give_self(*both->forward.body, value));
  TROUPE_ASSIGN(both->backward, given_self(both->backward, value));
  TROUPE_ASSIGN(auto tuple, add_tuple(*both->forward.body, both->saved));
  // The way back, by the name that it calls itself by.
  auto back = std::make_unique<graph>(of.body().ops());
  std::vector<edge> gradients;
  size_t next = 0;
  for (auto one : known.from) {
    TROUPE_ASSIGN(auto made, add_value_argument(*back, next++, both->forward.results[one]));
    gradients.push_back(made);
  }
  TROUPE_ASSIGN(auto saved, add_value_argument(*back, next++, tuple));
  TROUPE_ASSIGN(auto* called, call_back(*both, gradients, saved, {}, *back));
  TROUPE_ASSIGN(auto backward,
                function::make(known.backward, std::move(back), outputs_of(*called)));
  both->forward.results.push_back(tuple);
  TROUPE_ASSIGN(auto forward, function::make(known.forward, std::move(both->forward.body),
                                             both->forward.results));
  return of_recursive_call(at, known, {known.forward, forward}, {known.backward, backward});
}

// What the function's author says it is.
result<edges> of_own_gradient(gradient_context& at, const function& of) {
  auto& call = at.widens();
  const auto& [by, to] = of.gradient();
  if (!by)
    return failure(
        error_kind::unimplemented, "function '", of.name(),
        "' has a gradient of its own that was not read: it is of an order that was not read, "
        "or of a variable");
  edges found(call.inputs().size());
  if (std::ranges::none_of(to, [&](size_t one) { return at.wants(static_cast<int>(one)); }))
    return found;
  auto arguments = call.inputs();
  for (int i = 0; i < static_cast<int>(of.results()); ++i)
    if (!of.result_is_ref(static_cast<size_t>(i)) && carries_gradients(call.output_type(i)))
      arguments.push_back(at.output_gradient(i));
  TROUPE_ASSIGN(auto* back, add_call(call.graph(), {by->name(), by}, arguments, {}, &call));
  for (size_t i = 0; i < to.size(); ++i) {
    found[to[i]] = back->output(static_cast<int>(i));
    const auto& argument = call.inputs()[to[i]];
    if (!found[to[i]].dims().compatible(argument.dims()))
      return invalid("function '", of.name(), "': its own gradient of argument ", to[i],
                     " has shape ", found[to[i]].dims(), ", and '", argument, "' has ",
                     argument.dims());
  }
  return found;
}

result<edges> of_call(gradient_context& at) {
  auto& call = at.widens();
  const auto value = *functions_of(call).front();
  auto& all = *at.functions();
  if (!value.body) {
    auto known = all.on_their_way.find(value.name);
    if (known == all.on_their_way.end())
      return failure(error_kind::unimplemented, "function '", value.name, "' is not known here");
    return of_recursive_call(at, known->second, {known->second.forward, {}},
                             {known->second.backward, {}});
  }
  const auto& of = *value.body;
  if (of.gradient().by || !of.gradient().to.empty())
    return of_own_gradient(at, of);
  if (calls_itself(of.body(), value.name))
    return of_first_recursive_call(at, value);
  place_list from, to;
  std::vector<bool> behind(of.arguments());
  auto by_result = arguments_behind_results(of);
  for (size_t i = 0; i < of.results(); ++i) {
    if (!at.has_output_gradient(static_cast<int>(i)) || !carries_gradients(of.result_type(i)))
      continue;
    from.push_back(i);
    for (size_t k = 0; k < behind.size(); ++k)
      behind[k] = behind[k] || by_result[i][k];
  }
  for (size_t i = 0; i < of.arguments(); ++i)
    if (behind[i] && at.wants(static_cast<int>(i)) && takes_gradients(of, i))
      to.push_back(i);
  edges found(call.inputs().size());
  if (to.empty())
    return found;
  auto& ready = all.calls[{&of, from, to}];
  if (!ready.backward.body) {
    TROUPE_ASSIGN(auto both, all.both_ways(of, from, to, [](size_t) { return true; }));
    auto results = both.forward.results;
    results.insert(results.end(), both.saved.begin(), both.saved.end());
    TROUPE_ASSIGN(auto forward, function::make(concat(value.name, "_saving"),
                                               std::move(both.forward.body), results));
    ready = {{forward->name(), forward}, {both.backward->name(), both.backward}, both.needs};
  }
  auto first_saved = call.outputs();
  if (ready.forward.body->results() > static_cast<size_t>(first_saved))
    TROUPE_TRY(call.graph().widen(call, {}, {{"f", ready.forward}}));
  std::vector<edge> arguments;
  for (auto one : from)
    arguments.push_back(at.output_gradient(static_cast<int>(one)));
  for (const auto& [is_argument, index] : ready.needs)
    arguments.push_back(is_argument ? at.input(static_cast<int>(index))
                                    : call.output(first_saved + static_cast<int>(index)));
  TROUPE_ASSIGN(auto* back, add_call(call.graph(), ready.backward, arguments, {}, &call));
  for (size_t i = 0; i < to.size(); ++i)
    found[to[i]] = back->output(static_cast<int>(i));
  return found;
}

// -- branches -------------------------------------------------------------------------------------

result<edges> of_branches(gradient_context& at) {
  auto& branch = at.widens();
  const auto first = static_cast<size_t>(first_argument(branch.op()));
  std::vector<std::shared_ptr<const function>> bodies;
  for (const auto* one : functions_of(branch)) {
    if (!one->body)
      return failure(error_kind::unimplemented, "a branch is a function that is not known here");
    TROUPE_ASSIGN(auto body, as_call(one->body));
    bodies.push_back(body);
  }
  place_list from, to;
  std::vector<bool> behind(bodies.front()->arguments());
  for (const auto& body : bodies) {
    auto by_result = arguments_behind_results(*body);
    for (size_t i = 0; i < by_result.size(); ++i)
      for (size_t k = 0; at.has_output_gradient(static_cast<int>(i)) && k < behind.size(); ++k)
        behind[k] = behind[k] || by_result[i][k];
  }
  for (size_t i = 0; i < bodies.front()->results(); ++i)
    if (at.has_output_gradient(static_cast<int>(i)) &&
        carries_gradients(bodies.front()->result_type(i)))
      from.push_back(i);
  for (size_t i = 0; i < behind.size(); ++i)
    if (behind[i] && at.wants(static_cast<int>(first + i)) && takes_gradients(*bodies.front(), i))
      to.push_back(i);
  edges found(branch.inputs().size());
  if (to.empty())
    return found;
  std::vector<function_gradients::two_ways> all;
  std::map<size_t, size_t> kept; // arguments that stay, and their places
  bool saves = false;
  for (const auto& body : bodies) {
    TROUPE_ASSIGN(auto both,
                  at.functions()->both_ways(*body, from, to, [](size_t) { return true; }));
    for (const auto& one : both.needs)
      if (one.is_argument)
        kept.try_emplace(one.index, kept.size());
    saves = saves || !both.saved.empty();
    all.push_back(std::move(both));
  }
  std::vector<edge> inputs{branch.inputs()[0]};
  for (auto one : from)
    inputs.push_back(at.output_gradient(static_cast<int>(one)));
  std::vector<size_t> stay(kept.size());
  for (auto [argument, place] : kept)
    stay[place] = argument;
  std::vector<function_value> forward, backward;
  for (size_t i = 0; i < all.size(); ++i) {
    auto& both = all[i];
    auto back = std::make_unique<graph>(branch.graph().ops());
    std::vector<edge> gradients;
    std::map<size_t, edge> arguments;
    size_t next = 0;
    for (auto one : from) {
      TROUPE_ASSIGN(auto made, add_value_argument(*back, next++, both.forward.results[one]));
      gradients.push_back(made);
    }
    edge tuple, saved;
    if (saves) {
      TROUPE_ASSIGN(tuple, add_tuple(*both.forward.body, both.saved));
      TROUPE_ASSIGN(saved, add_value_argument(*back, next++, tuple));
    }
    for (auto one : stay) {
      TROUPE_ASSIGN(arguments[one], add_value_argument(*back, next++, both.forward.arguments[one]));
    }
    TROUPE_ASSIGN(auto* called, call_back(both, gradients, saved, arguments, *back));
    auto name = concat(bodies[i]->name(), "_gradient");
    TROUPE_ASSIGN(auto made, function::make(name, std::move(back), outputs_of(*called)));
    backward.push_back({name, made});
    if (!saves)
      continue;
    both.forward.results.push_back(tuple);
    TROUPE_ASSIGN(auto wide, function::make(concat(bodies[i]->name(), "_saving"),
                                            std::move(both.forward.body), both.forward.results));
    forward.push_back({wide->name(), wide});
  }
  if (saves) {
    auto tuple_at = branch.outputs();
    TROUPE_TRY(branch.graph().widen(branch, {}, with_functions(branch, forward)));
    inputs.push_back(branch.output(tuple_at));
  }
  for (auto one : stay)
    inputs.push_back(branch.inputs()[first + one]);
  auto acts = std::ranges::any_of(backward, [](auto& one) { return one.body->has_effects(); });
  auto by_number = branch.op().calls == calling::by_number;
  TROUPE_ASSIGN(auto* back, branch.graph().add({.op = by_number ? acts ? "Case" : "StatelessCase"
                                                      : acts    ? "If"
                                                                : "StatelessIf",
                                                .inputs = inputs,
                                                .attrs = with_functions(branch, backward)}));
  for (size_t i = 0; i < to.size(); ++i)
    found[first + to[i]] = back->output(static_cast<int>(i));
  return found;
}

// -- loops ----------------------------------------------------------------------------------------

// The loop variables whose gradients the way back carries: those that a gradient reaches, and that
// make a difference to a gradient that is wanted, after any number of turns.
place_list carried(gradient_context& at, const function& body) {
  auto behind = arguments_behind_results(body);
  auto count = body.arguments();
  std::vector<bool> reached(count), matters(count);
  for (size_t i = 0; i < count; ++i) {
    auto can = takes_gradients(body, i);
    reached[i] = can && at.has_output_gradient(static_cast<int>(i));
    matters[i] = can && at.wants(static_cast<int>(i));
  }
  for (bool grows = true; grows;) {
    grows = false;
    for (size_t i = 0; i < count; ++i)
      for (size_t k = 0; k < count; ++k) {
        if (!behind[i][k] || !takes_gradients(body, k) || !takes_gradients(body, i))
          continue;
        grows = grows || (reached[i] && !reached[k]) || (matters[k] && !matters[i]);
        reached[k] = reached[k] || reached[i];
        matters[i] = matters[i] || matters[k];
      }
  }
  place_list found;
  for (size_t i = 0; i < count; ++i)
    if (reached[i] && matters[i])
      found.push_back(i);
  return found;
}

result<edge> integers(graph& to, std::vector<int32_t> values, bool is_scalar = false) {
  auto value = is_scalar ? tensor::scalar(values[0]) : tensor::vector(values);
  return add(to, {.op = "Const", .attrs = {{"value", value}, {"dtype", dtype::i32}}});
}

// The loop saves one tuple in each turn, as an item of a list that is a loop variable.
status save_turns(node& loop, function_gradients::two_ways& both) {
  auto& body = *both.forward.body;
  auto& in = loop.graph();
  auto scalar = attr_value{tensor::scalar(int32_t{-1})};
  TROUPE_ASSIGN(auto* dims,
                in.add_before(loop, {.op = "Const",
                                     .attrs = {{"value", tensor::vector(std::vector<int32_t>{})},
                                               {"dtype", dtype::i32}}}));
  TROUPE_ASSIGN(
      auto* any,
      in.add_before(loop, {.op = "Const", .attrs = {{"value", scalar}, {"dtype", dtype::i32}}}));
  TROUPE_ASSIGN(auto* empty, in.add_before(loop, {.op = "EmptyTensorList",
                                                  .inputs = {dims->output(0), any->output(0)},
                                                  .attrs = {{"element_dtype", dtype::variant}}}));
  auto list_like = empty->output(0);
  auto count = both.forward.arguments.size();
  TROUPE_ASSIGN(auto list, add_value_argument(body, count, list_like));
  TROUPE_ASSIGN(auto tuple, add_tuple(body, both.saved, loop.attr<bool>("_swap_memory")));
  TROUPE_ASSIGN(auto more, add(body, {.op = "TensorListPushBack", .inputs = {list, tuple}}));
  both.forward.results.push_back(more);
  auto all = functions_of(loop);
  auto condition = opened(*all[0]->body);
  TROUPE_TRY(add_value_argument(*condition.body, count, list_like).status());
  TROUPE_ASSIGN(auto test,
                function::make(all[0]->name, std::move(condition.body), condition.results));
  TROUPE_ASSIGN(auto turn, function::make(concat(all[1]->name, "_saving"),
                                          std::move(both.forward.body), both.forward.results));
  return in.widen(loop, {list_like},
                  with_functions(loop, {{test->name(), test}, {turn->name(), turn}}));
}

result<edges> of_loop(gradient_context& at) {
  auto& loop = at.widens();
  auto all = functions_of(loop);
  if (!all[0]->body || !all[1]->body)
    return failure(error_kind::unimplemented, "its body is a function that is not known here");
  TROUPE_ASSIGN(const auto body, as_call(all[1]->body));
  const auto name = all[1]->name;
  edges found(loop.inputs().size());
  auto gradients = carried(at, *body);
  if (gradients.empty())
    return found;
  auto recomputes = loop.attr<bool>("_recompute");
  auto stays = [&](size_t i) { return body->handed_on(i) == static_cast<int>(i); };
  TROUPE_ASSIGN(auto both,
                at.functions()->both_ways(*body, gradients, gradients, stays, recomputes));
  std::map<size_t, size_t> kept; // arguments that stay, and their places
  for (const auto& one : both.needs)
    if (one.is_argument)
      kept.try_emplace(one.index, kept.size());
  place_list stay(kept.size());
  for (auto [argument, place] : kept)
    stay[place] = argument;

  // What the two functions of the way back take: the list, gradients, and what stays.
  auto list_at = loop.outputs();
  auto test = std::make_unique<graph>(loop.graph().ops());
  auto turn = std::make_unique<graph>(loop.graph().ops());
  std::vector<edge> of_turn;
  edge list;
  for (auto* to : {test.get(), turn.get()}) {
    of_turn.clear();
    size_t next = 0;
    TROUPE_ASSIGN(auto* scalar, to->add({.op = "_Feed",
                                         .name = concat("argument_", next),
                                         .attrs = {{"index", static_cast<int64_t>(next)},
                                                   {"dtype", dtype::variant},
                                                   {"shape", partial_shape{shape{}}}}}));
    ++next;
    of_turn.push_back(scalar->output(0));
    for (const auto& some : {gradients, stay})
      for (auto one : some) {
        TROUPE_ASSIGN(auto made, add_value_argument(*to, next++, both.forward.arguments[one]));
        of_turn.push_back(made);
      }
    if (to != test.get())
      continue;
    TROUPE_ASSIGN(auto left, add(*to, {.op = "TensorListLength", .inputs = {of_turn[0]}}));
    TROUPE_ASSIGN(auto none, integers(*to, {0}, true));
    TROUPE_ASSIGN(list, add(*to, {.op = "Greater", .inputs = {left, none}}));
  }
  TROUPE_ASSIGN(auto condition,
                function::make(concat(all[0]->name, "_gradient"), std::move(test), {list}));
  TROUPE_ASSIGN(auto dims, integers(*turn, {}));
  TROUPE_ASSIGN(auto* popped, turn->add({.op = "TensorListPopBack",
                                         .inputs = {of_turn[0], dims},
                                         .attrs = {{"element_dtype", dtype::variant}}}));
  std::map<size_t, edge> arguments;
  for (size_t i = 0; i < stay.size(); ++i)
    arguments[stay[i]] = of_turn[1 + gradients.size() + i];
  TROUPE_ASSIGN(auto* called,
                call_back(both,
                          {of_turn.begin() + 1,
                           of_turn.begin() + 1 + static_cast<std::ptrdiff_t>(gradients.size())},
                          popped->output(1), arguments, *turn));
  std::vector<edge> results{popped->output(0)};
  for (const auto& one : outputs_of(*called))
    results.push_back(one);
  results.insert(results.end(), of_turn.begin() + 1 + static_cast<std::ptrdiff_t>(gradients.size()),
                 of_turn.end());
  TROUPE_ASSIGN(auto back, function::make(concat(name, "_gradient"), std::move(turn), results));

  auto turns_at_once = loop.attr<int64_t>("parallel_iterations");
  TROUPE_TRY(save_turns(loop, both));
  std::vector<edge> inputs{loop.output(list_at)};
  for (auto one : gradients)
    inputs.push_back(at.output_gradient(static_cast<int>(one)));
  for (auto one : stay)
    inputs.push_back(loop.inputs()[one]);
  TROUPE_ASSIGN(auto* added,
                loop.graph().add({.op = back->has_effects() ? "While" : "StatelessWhile",
                                  .inputs = inputs,
                                  .attrs = {{"cond", function_value{condition->name(), condition}},
                                            {"body", function_value{back->name(), back}},
                                            {"parallel_iterations", turns_at_once},
                                            {"_recompute", recomputes},
                                            {"_swap_memory", loop.attr<bool>("_swap_memory")}}}));
  found.resize(loop.inputs().size()); // the list is another one
  for (size_t i = 0; i < gradients.size(); ++i)
    found[gradients[i]] = added->output(static_cast<int>(1 + i));
  return found;
}

edges or_note(gradient_context& at, result<edges> made) {
  if (made)
    return *std::move(made);
  at.widens().graph().note(made.status());
  return edges(at.of().inputs().size());
}

} // namespace

edges gradient_of_call(gradient_context& at) { return or_note(at, of_call(at)); }
edges gradient_of_branches(gradient_context& at) { return or_note(at, of_branches(at)); }
edges gradient_of_loop(gradient_context& at) { return or_note(at, of_loop(at)); }

} // namespace troupe
