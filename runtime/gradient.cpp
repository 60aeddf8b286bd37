#include "troupe/runtime/gradient.hpp"

#include <algorithm>
#include <map>

namespace troupe {
namespace {

// Gradients are taken in the type of the value; whole numbers and strings carry none.
bool differentiable(dtype type) { return (floating | complex_types).contains(type); }

edge filled_like(edge like, double value) {
  return like.node->graph().add_or_note(
      {.op = value == 0 ? "ZerosLike" : "OnesLike", .inputs = {like}});
}

// The nodes that lie between the xs and the ys.
class backward_paths {
public:
  backward_paths(const std::vector<edge>& ys, const std::vector<edge>& xs) {
    for (const auto& x : xs)
      reached_[x.node] = true;
    for (const auto& y : ys)
      on_path(y.node);
  }
  bool contains(const node* at) const {
    auto it = reached_.find(at);
    return it != reached_.end() && it->second;
  }

private:
  // Depth-first without recursion: graphs may be very deep.
  void on_path(const node* start) {
    std::vector<std::pair<const node*, size_t>> path{{start, 0}};
    while (!path.empty()) {
      auto& [at, next] = path.back();
      if (next == 0 && done_.contains(at)) {
        path.pop_back();
        continue;
      }
      if (next < at->inputs().size()) {
        path.emplace_back(at->inputs()[next++].node, 0);
        continue;
      }
      bool any = contains(at);
      for (const auto& input : at->inputs())
        any = any || contains(input.node);
      reached_[at] = any;
      done_[at] = true;
      path.pop_back();
    }
  }

  std::map<const node*, bool> reached_, done_;
};

class differentiator {
public:
  explicit differentiator(graph& in) : graph_(in) {}

  result<std::vector<edge>> run(const std::vector<edge>& ys, const std::vector<edge>& xs,
                                const std::vector<edge>& weights) {
    backward_paths between{ys, xs};
    for (size_t i = 0; i < ys.size(); ++i)
      partials_[{ys[i].node, ys[i].index}].push_back(weights.empty() ? filled_like(ys[i], 1)
                                                                     : weights[i]);
    // Later nodes first: every partial gradient of an output exists before its node is reached.
    std::vector<node*> order;
    for (const auto& at : graph_.nodes())
      if (between.contains(at.get()))
        order.push_back(at.get());
    for (auto it = order.rbegin(); it != order.rend(); ++it)
      TROUPE_TRY(step_back(**it, between));
    std::vector<edge> gradients;
    for (const auto& x : xs)
      gradients.push_back(sum_of({x.node, x.index}));
    TROUPE_TRY(graph_.take_note());
    return gradients;
  }

private:
  using key = std::pair<node*, int>;

  // Replaces the partial gradients of an output by their sum.
  edge sum_of(const key& of) {
    auto it = partials_.find(of);
    if (it == partials_.end())
      return {};
    if (it->second.size() > 1)
      it->second = {graph_.add_or_note({.op = "AddN", .inputs = it->second})};
    return it->second.front();
  }

  status step_back(node& at, const backward_paths& between) {
    if (at.inputs().empty())
      return {};
    bool wanted = std::ranges::any_of(at.inputs(), [&](const edge& in) {
      return between.contains(in.node) && differentiable(in.type());
    });
    if (!wanted)
      return {};
    std::vector<edge> output_gradients;
    for (int i = 0; i < at.outputs(); ++i)
      output_gradients.push_back(sum_of({&at, i}));
    if (std::ranges::none_of(output_gradients, [](const edge& e) { return bool(e); }))
      return {};
    if (!at.op().gradient)
      return failure(error_kind::unimplemented, at.description(),
                     ": no gradient is defined: ", at.op().no_gradient);
    // The colocated device and the forward node's name make a gradient's nodes easy to find.
    graph_.push_scope(concat(at.name().substr(at.name().rfind('/') + 1), "_grad"));
    graph_.push_device(at.device());
    gradient_context context{at, std::move(output_gradients)};
    auto input_gradients = at.op().gradient(context);
    graph_.pop_device();
    graph_.pop_scope();
    if (auto noted = graph_.take_note(); !noted)
      return std::move(noted).within(concat("gradient of ", at.description()));
    if (input_gradients.size() != at.inputs().size())
      return failure(error_kind::internal, at.description(), ": its gradient function gave ",
                     input_gradients.size(), " gradients for ", at.inputs().size(), " inputs");
    for (size_t i = 0; i < input_gradients.size(); ++i)
      if (input_gradients[i])
        partials_[{at.inputs()[i].node, at.inputs()[i].index}].push_back(input_gradients[i]);
    return {};
  }

  graph& graph_;
  std::map<key, std::vector<edge>> partials_;
};

} // namespace

edge gradient_context::output_gradient(int i) {
  auto& given = output_gradients_[static_cast<size_t>(i)];
  if (!given)
    given = filled_like(output(i), 0);
  return given;
}

edge gradient_context::op(std::string type, std::vector<edge> inputs, attr_map attrs, int output) {
  auto made = node_.graph().add_or_note(
      {.op = std::move(type), .inputs = std::move(inputs), .attrs = std::move(attrs)});
  return made ? edge{made.node, output} : edge{};
}

edge gradient_context::constant(tensor value) {
  auto type = value.type();
  return node_.graph().add_or_note(
      {.op = "Const", .attrs = {{"value", std::move(value)}, {"dtype", type}}});
}

edges gradient_context::fail(std::string_view why) {
  node_.graph().note(failure(error_kind::unimplemented, why));
  return edges(node_.inputs().size());
}

result<std::vector<edge>> gradients(std::vector<edge> ys, std::vector<edge> xs,
                                    std::vector<edge> ys_gradients, std::source_location where) {
  auto context = concat("gradients (", to_string(where), ')');
  auto bad = [&](const auto&... parts) { return invalid(parts...).within(context); };
  if (ys.empty() || xs.empty())
    return bad("needs at least one y and one x");
  auto* in = ys.front() ? &ys.front().node->graph() : nullptr;
  for (const auto* list : {&ys, &xs})
    for (const auto& one : *list) {
      if (!one.exists() || &one.node->graph() != in)
        return bad("all ys and xs must be edges of one graph");
      if (!differentiable(one.type()))
        return bad("'", one, "' is ", one.type(),
                   "; gradients exist for floating and complex types");
    }
  if (!ys_gradients.empty() && ys_gradients.size() != ys.size())
    return bad("got ", ys_gradients.size(), " weights for ", ys.size(), " ys");
  for (size_t i = 0; i < ys_gradients.size(); ++i) {
    const auto& weight = ys_gradients[i];
    if (!weight.exists() || &weight.node->graph() != in)
      return bad("weight ", i, " is not an edge of the graph of the ys");
    if (weight.type() != ys[i].type() || !weight.dims().compatible(ys[i].dims()))
      return bad("weight '", weight, "' is ", weight.type(), weight.dims(), ", but '", ys[i],
                 "' is ", ys[i].type(), ys[i].dims());
  }
  in->push_scope("gradients");
  auto found = differentiator{*in}.run(ys, xs, ys_gradients);
  in->pop_scope();
  if (!found)
    return found.status().within(context);
  return found;
}

} // namespace troupe
