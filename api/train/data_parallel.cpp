#include "troupe/api/train/data_parallel.hpp"

#include "troupe/api/collectives.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/ops.hpp"
#include "troupe/runtime/device_name.hpp"

#include <algorithm>

namespace troupe {
namespace {

using location = std::source_location;

[[noreturn]] void fail(location where, const auto&... parts) {
  throw error{invalid(parts...).within(concat("train_data_parallel (", to_string(where), ')'))};
}

class builder {
public:
  builder(graph_builder& in, const std::vector<std::string>& devices,
          const data_parallel_options& options, location where)
      : in_(in), devices_(devices), options_(options), where_(where) {}

  data_parallel_training run(const replica_model& model, const optimizer_maker& make_optimizer) {
    for (size_t i = 0; i < devices_.size(); ++i)
      build(i, model);
    check_alike();
    add_up();
    for (size_t i = 0; i < devices_.size(); ++i)
      apply(i, make_optimizer);
    check_alike();
    made_.train = in_.group(trained_, "train", where_);
    made_.synchronize = synchronize();
    made_.loss = all_reduce(losses_, devices_, reduce_by::mean, where_).front();
    return std::move(made_);
  }

private:
  // Calls it with new nodes on the device, and notes which variables it makes.
  template <class Make>
  void on_replica(size_t which, Make make) {
    auto begin = in_.variables().size();
    {
      auto named = in_.scope(concat("replica_", which), where_);
      auto on = in_.on(devices_[which], where_);
      make();
    }
    auto all = in_.variables().subspan(begin);
    made_.variables.resize(devices_.size());
    made_.variables[which].insert(made_.variables[which].end(), all.begin(), all.end());
  }

  void build(size_t which, const replica_model& model) {
    on_replica(which, [&] {
      auto loss =
          model({devices_[which], static_cast<int>(which), static_cast<int>(devices_.size())});
      if (!loss.exists() || !floating.contains(loss.type()) ||
          !loss.dims().compatible(partial_shape{}))
        fail(where_, "the model must return its loss, a floating scalar");
      losses_.push_back(loss);
      gradients_.push_back(optimizer::compute_gradients(loss, {}, where_));
    });
    for (const auto& one : gradients_.back())
      if (std::ranges::find(made_.variables[which], one.variable.node, [](const auto& known) {
            return known.ref.node;
          }) == made_.variables[which].end())
        fail(where_, one.variable.node->description(), " is no variable of replica ", which,
             ": the model must make its variables each time that it is called");
  }

  void check_alike() const {
    const auto& first = made_.variables.front();
    for (size_t i = 1; i < devices_.size(); ++i) {
      const auto& other = made_.variables[i];
      auto alike = std::ranges::equal(first, other, [](const auto& a, const auto& b) {
        return a.type() == b.type() && a.dims() == b.dims();
      });
      if (!alike || gradients_[i].size() != gradients_.front().size())
        fail(where_, "the model makes ", first.size(), " variables for ", devices_.front(),
             " and others, ", other.size(), ", for ", devices_[i],
             ": it must build the same for each");
    }
  }

  // Nothing is applied before all is there: a step that fails while it computes leaves all as they
  // were, and what is applied is one stretch of code.
  void add_up() {
    std::vector<std::vector<node*>> sums(devices_.size());
    for (size_t v = 0; v < gradients_.front().size(); ++v) {
      std::vector<edge> each;
      for (const auto& one : gradients_)
        each.push_back(one[v].gradient);
      auto means = all_reduce(each, devices_, reduce_by::mean, where_);
      for (size_t i = 0; i < devices_.size(); ++i) {
        gradients_[i][v].gradient = means[i];
        sums[i].push_back(means[i].node);
      }
    }
    for (size_t i = 0; i < devices_.size(); ++i) {
      auto on = in_.on(devices_[i], where_);
      auto later = in_.after(sums[i]);
      for (auto& one : gradients_[i])
        one.gradient = identity(one.gradient, {}, where_);
    }
  }

  void apply(size_t which, const optimizer_maker& make_optimizer) {
    on_replica(which, [&] {
      auto by = make_optimizer();
      if (!by)
        fail(where_, "no optimizer was made");
      auto gradients =
          options_.change ? options_.change(gradients_[which]) : std::move(gradients_[which]);
      trained_.push_back(by->apply_gradients(gradients, where_));
      made_.optimizers.push_back(std::move(by));
    });
  }

  node* synchronize() {
    std::vector<node*> assigned;
    const auto& first = made_.variables.front();
    for (size_t v = 0; v < first.size() && devices_.size() > 1; ++v) {
      auto copies = broadcast(first[v], devices_, where_);
      for (size_t i = 1; i < devices_.size(); ++i)
        assigned.push_back(assign(made_.variables[i][v], copies[i], {}, where_).node);
    }
    return in_.group(assigned, "synchronize", where_);
  }

  graph_builder& in_;
  const std::vector<std::string>& devices_;
  const data_parallel_options& options_;
  const location where_;
  data_parallel_training made_;
  std::vector<edge> losses_;
  std::vector<std::vector<variable_gradient>> gradients_; // of each replica
  std::vector<node*> trained_;
};

} // namespace

edge replica::part_of(edge batch, location where) const {
  if (!batch.exists())
    throw error{invalid("part_of (", to_string(where), "): the batch is an edge to nothing")};
  auto& in = batch.node->graph();
  auto processor = value_or_throw(device_name::parse(device_));
  processor.kind = "cpu";
  processor.ordinal = 0;
  in.push_device(to_string(processor));
  graph_scope on{in, graph_scope::kind::device};
  return split(0, batch, count_, {}, where)[static_cast<size_t>(index_)];
}

data_parallel_training train_data_parallel(graph_builder& in,
                                           const std::vector<std::string>& devices,
                                           const replica_model& model,
                                           const optimizer_maker& make_optimizer,
                                           const data_parallel_options& options, location where) {
  if (devices.empty())
    fail(where, "needs at least one device");
  return builder{in, devices, options, where}.run(model, make_optimizer);
}

} // namespace troupe
