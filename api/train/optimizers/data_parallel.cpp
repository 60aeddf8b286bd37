#include "troupe/api/train/optimizers/data_parallel.hpp"
// Builds data-parallel training steps from collective operations.

#include "troupe/api/collectives.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/collective.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace troupe {
namespace {

using location = std::source_location;

using members = std::vector<size_t>; // indices of replicas

} // namespace

// Holds the replicas and their gradients, and builds steps of all or some of them.
class detail::data_parallel_builder {
public:
  data_parallel_builder(graph_builder& in, const std::vector<std::string>& devices,
                        const data_parallel_options& options, location where)
      : in_(in), devices_(devices), options_(options), where_(where) {}

  void build(const replica_model& model) {
    for (size_t i = 0; i < devices_.size(); ++i)
      build(i, model);
    check_alike();
    buckets_ = make_buckets();
    packed_.resize(devices_.size());
  }

  data_parallel_step form_all(const optimizer_maker& make_optimizer) {
    for (size_t i = 0; i < devices_.size(); ++i) {
      optimizers_.push_back(make_optimizer());
      if (!optimizers_.back())
        reject("train_data_parallel", where_, "make_optimizer returned no optimizer");
    }
    members everyone(devices_.size());
    std::iota(everyone.begin(), everyone.end(), size_t{0});
    auto trained = form(everyone);
    check_alike();
    return trained;
  }

  // The first member copies its variables to the others.
  data_parallel_step form(const members& group_members) {
    auto sorted = group_members;
    std::ranges::sort(sorted);
    auto& step_nodes = trained_[sorted];
    if (!step_nodes.train) {
      auto means = mean_gradients(sorted);
      std::vector<node*> applied;
      for (size_t i = 0; i < sorted.size(); ++i)
        applied.push_back(apply(sorted[i], means[i]));
      step_nodes.train = group(sorted.front(), applied, "train");
      std::vector<edge> losses;
      for (auto i : sorted)
        losses.push_back(losses_[i]);
      step_nodes.loss = all_reduce(losses, devices_of(sorted), reduce_by::mean, where_).front();
    }
    auto& synchronizing = synchronized_[{group_members.front(), sorted}];
    if (!synchronizing)
      synchronizing = synchronize(group_members);
    return {step_nodes.train, synchronizing, step_nodes.loss};
  }

  data_parallel_step form(const std::vector<std::string>& devices, location where) {
    where_ = where;
    if (devices.empty())
      reject("step_of", where, "needs at least one device");
    members group_members;
    for (const auto& device : devices) {
      auto position = std::ranges::find(devices_, device);
      if (position == devices_.end())
        reject("step_of", where, "no replica is on '", device, "': there is ", join(devices_));
      group_members.push_back(static_cast<size_t>(position - devices_.begin()));
      if (std::ranges::count(devices, device) > 1)
        reject("step_of", where, "names ", device, " twice");
    }
    if (group_members.size() < devices_.size())
      check_independent(group_members);
    const auto variables = in_.variables().size();
    auto name_scope = in_.scope("among", where);
    auto step_nodes = form(group_members);
    if (in_.variables().size() != variables)
      reject("step_of", where,
             "data_parallel_options::transform_gradients adds variables, which cannot be "
             "divided among fewer replicas");
    return step_nodes;
  }

  std::vector<std::vector<variable_handle>> variables() const { return variables_; }
  std::vector<std::shared_ptr<optimizer>> optimizers() const { return optimizers_; }

private:
  static std::set<task_name> tasks_of(const std::vector<std::string>& devices) {
    std::set<task_name> tasks;
    for (const auto& device : devices)
      tasks.insert(value_or_throw(device_name::parse(device)).name_of_task());
    return tasks;
  }

  static std::string join(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names)
      text += concat(text.empty() ? "" : ", ", name);
    return text;
  }

  std::vector<std::string> devices_of(const members& group_members) const {
    std::vector<std::string> names;
    for (auto i : group_members)
      names.push_back(devices_[i]);
    return names;
  }

  replica replica_at(size_t index) const {
    return {devices_[index], static_cast<int>(index), static_cast<int>(devices_.size())};
  }

  // Rejects models that exchange tensors between replicas themselves, which need all replicas.
  void check_independent(const members& group_members) const {
    std::vector<bool> visited(in_.nodes().size(), false);
    std::vector<const node*> pending;
    auto visit = [&](const node* current) {
      if (!visited[current->index()])
        pending.push_back(current);
      visited[current->index()] = true;
    };
    for (auto i : group_members) {
      visit(losses_[i].node);
      for (const auto& entry : gradients_[i])
        visit(entry.gradient.node);
    }
    while (!pending.empty()) {
      const auto* current = pending.back();
      pending.pop_back();
      if (is_collective(current->op()))
        reject("step_of", where_, current->description(),
               " exchanges tensors between replicas, which the model does: all of them are needed");
      for (const auto& input : current->inputs())
        visit(input.node);
      for (const auto* predecessor : current->controls())
        visit(predecessor);
    }
  }

  // Calls `add_nodes` with new nodes on the replica's device, and records the variables that it
  // adds.
  template <class AddNodes>
  void on_replica(size_t index, AddNodes add_nodes) {
    auto begin = in_.variables().size();
    {
      auto on = in_.on(devices_[index], where_);
      add_nodes();
    }
    auto added = in_.variables().subspan(begin);
    variables_.resize(devices_.size());
    variables_[index].insert(variables_[index].end(), added.begin(), added.end());
  }

  void build(size_t index, const replica_model& model) {
    on_replica(index, [&] {
      auto name_scope = in_.scope(concat("replica_", index), where_);
      auto loss = model(replica_at(index));
      if (!loss.exists() || !floating.contains(loss.type()) ||
          !loss.dims().compatible(partial_shape{}))
        reject("train_data_parallel", where_, "the model must return its loss, a floating scalar");
      losses_.push_back(loss);
      gradients_.push_back(optimizer::compute_gradients(loss, {}, where_));
    });
    for (const auto& entry : gradients_.back())
      if (std::ranges::find(variables_[index], entry.variable.node, [](const auto& candidate) {
            return candidate.ref.node;
          }) == variables_[index].end())
        reject("train_data_parallel", where_, entry.variable.node->description(),
               " is no variable of replica ", index,
               ": the model must add its own variables in each call");
  }

  void check_alike() const {
    const auto& first = variables_.front();
    for (size_t i = 1; i < devices_.size(); ++i) {
      const auto& other = variables_[i];
      auto alike = std::ranges::equal(first, other, [](const auto& a, const auto& b) {
        return a.type() == b.type() && a.dims() == b.dims();
      });
      if (!alike || gradients_[i].size() != gradients_.front().size())
        reject("train_data_parallel", where_, "the model makes ", first.size(), " variables for ",
               devices_.front(), " and others, ", other.size(), ", for ", devices_[i],
               ": it must build the same for each");
    }
  }

  int64_t bucket_bytes() const {
    if (options_.bucket_bytes)
      return *options_.bucket_bytes;
    auto first = value_or_throw(device_name::parse(devices_.front()));
    auto kib = first.kind == "gpu" ? 4096 : tasks_of(devices_).size() > 1 ? 1024 : 64;
    return int64_t{kib} << 10;
  }

  // The size of a gradient, if its shape is known for all replicas.
  std::optional<int64_t> bytes_of(size_t gradient) const {
    const auto& dims = gradients_.front()[gradient].variable.dims();
    for (const auto& of_replica : gradients_)
      if (!dims.fully_known() || !(of_replica[gradient].gradient.dims() == dims))
        return {};
    return dims.elements() *
           static_cast<int64_t>(size_of(gradients_.front()[gradient].gradient.type()));
  }

  // Gradients in the reverse order of the variables, because those of the last layers are computed
  // first.
  std::vector<size_t> last_first() const {
    const auto& entries = gradients_.front();
    std::vector<size_t> order(entries.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, std::greater{},
                      [&](size_t v) { return entries[v].variable.node->id(); });
    return order;
  }

  // Gradients that are exchanged together.
  using bucket = std::vector<size_t>;
  std::vector<bucket> make_buckets() const {
    struct open_bucket {
      size_t index;
      int64_t bytes;
    };
    const auto capacity = bucket_bytes();
    std::map<dtype, open_bucket> filling;
    std::vector<bucket> buckets;
    for (auto v : last_first()) {
      auto bytes = bytes_of(v).value_or(INT64_MAX);
      if (bytes > capacity) {
        buckets.push_back({v});
        continue;
      }
      auto type = gradients_.front()[v].gradient.type();
      auto current = filling.find(type);
      if (current == filling.end() || current->second.bytes > capacity - bytes) {
        current = filling.insert_or_assign(type, open_bucket{buckets.size(), 0}).first;
        buckets.emplace_back();
      }
      current->second.bytes += bytes;
      buckets[current->second.index].push_back(v);
    }
    return buckets;
  }

  edge pack(size_t replica, const bucket& indices) {
    const auto& entries = gradients_[replica];
    if (indices.size() == 1)
      return entries[indices.front()].gradient;
    auto on = in_.on(devices_[replica], where_);
    std::vector<edge> flat;
    for (auto v : indices)
      flat.push_back(reshape(entries[v].gradient, {-1}, {}, where_));
    return concatenate(flat, 0, {}, where_);
  }

  const std::vector<edge>& packed(size_t replica) {
    auto& tensors = packed_[replica];
    for (size_t k = tensors.size(); k < buckets_.size(); ++k)
      tensors.push_back(pack(replica, buckets_[k]));
    return tensors;
  }

  void unpack(std::vector<variable_gradient>& entries, const bucket& indices, edge mean) {
    if (indices.size() == 1) {
      entries[indices.front()].gradient = identity(mean, {}, where_);
      return;
    }
    std::vector<int64_t> sizes;
    for (auto v : indices)
      sizes.push_back(entries[v].variable.dims().elements());
    auto parts =
        split_v(mean, tensor::vector(sizes), 0, static_cast<int64_t>(indices.size()), {}, where_);
    for (size_t i = 0; i < indices.size(); ++i) {
      auto& entry = entries[indices[i]];
      auto dims = entry.variable.dims().known();
      entry.gradient =
          reshape(parts[i], tensor::vector<int64_t>({dims.begin(), dims.end()}), {}, where_);
    }
  }

  // On the device of a replica, because a node without a device may be placed on a lost task.
  node* group(size_t replica, const std::vector<node*>& nodes, std::string_view name) {
    auto on = in_.on(devices_[replica], where_);
    return in_.group(nodes, name, where_);
  }

  // Returns the mean gradients for each member. No update runs before all means are computed: a
  // step that fails earlier changes no variable.
  std::vector<std::vector<variable_gradient>> mean_gradients(const members& group_members) {
    std::vector<std::vector<edge>> means; // of each bucket, on each device
    for (size_t k = 0; k < buckets_.size(); ++k) {
      std::vector<edge> parts;
      for (auto i : group_members)
        parts.push_back(packed(i)[k]);
      means.push_back(all_reduce(parts, devices_of(group_members), reduce_by::mean, where_));
    }
    std::vector<std::vector<variable_gradient>> results;
    for (size_t i = 0; i < group_members.size(); ++i) {
      std::vector<node*> sums;
      for (const auto& mean : means)
        sums.push_back(mean[i].node);
      auto on = in_.on(devices_[group_members[i]], where_);
      auto later = in_.after(sums);
      auto& entries = results.emplace_back(gradients_[group_members[i]]);
      for (size_t k = 0; k < buckets_.size(); ++k)
        unpack(entries, buckets_[k], means[k][i]);
    }
    return results;
  }

  node* apply(size_t index, const std::vector<variable_gradient>& means) {
    node* applied = nullptr;
    // Slots of optimizers are named after their variable, so no name scope is needed.
    on_replica(index, [&] {
      applied = optimizers_[index]->apply_gradients(
          options_.transform_gradients ? options_.transform_gradients(means) : means, where_);
      if (options_.after_update)
        applied = options_.after_update(replica_at(index), applied);
    });
    return applied;
  }

  // With a lossy transfer encoding between tasks, the first member also gets the values that it has
  // sent.
  node* synchronize(const members& group_members) {
    std::vector<node*> assigned;
    const auto devices = devices_of(group_members);
    const auto tasks = tasks_of(devices);
    const auto& first = variables_[group_members.front()];
    for (size_t v = 0; v < first.size() && group_members.size() > 1; ++v) {
      auto copies = broadcast(first[v], devices, where_);
      for (size_t i = tasks.size() > 1 ? 0 : 1; i < group_members.size(); ++i)
        assigned.push_back(assign(variables_[group_members[i]][v], copies[i], {}, where_).node);
    }
    return group(group_members.front(), assigned, "synchronize");
  }

  graph_builder& in_;
  const std::vector<std::string> devices_;
  const data_parallel_options options_;
  location where_;
  // Indexed by replica.
  std::vector<std::vector<variable_handle>> variables_;
  std::vector<std::shared_ptr<optimizer>> optimizers_;
  std::vector<edge> losses_;
  std::vector<std::vector<variable_gradient>> gradients_; // of its own loss
  std::vector<std::vector<edge>> packed_;                 // one tensor for each bucket
  std::vector<bucket> buckets_;
  std::map<members, data_parallel_step> trained_;
  std::map<std::pair<size_t, members>, node*> synchronized_; // by the source replica and the set
};

edge replica::slice_of(edge batch, location where) const {
  if (!batch.exists())
    throw error{invalid("slice_of (", to_string(where), "): the batch is an empty edge")};
  if (index_ < 0 || index_ >= count_)
    throw error{
        invalid("slice_of (", to_string(where), "): there is no replica ", index_, " of ", count_)};
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
    reject("train_data_parallel", where, "needs at least one device");
  if (options.bucket_bytes.value_or(0) < 0)
    reject("train_data_parallel", where, "bucket_bytes must not be negative, got ",
           *options.bucket_bytes);
  need_function("train_data_parallel", where, model, "the model");
  need_function("train_data_parallel", where, make_optimizer, "make_optimizer");
  auto builder = std::make_shared<detail::data_parallel_builder>(in, devices, options, where);
  builder->build(model);
  auto step_of_all = builder->form_all(make_optimizer);
  data_parallel_training training;
  training.train = step_of_all.train;
  training.synchronize = step_of_all.synchronize;
  training.loss = step_of_all.loss;
  training.variables = builder->variables();
  training.optimizers = builder->optimizers();
  training.builder_ = std::move(builder);
  return training;
}

data_parallel_step data_parallel_training::step_of(const std::vector<std::string>& devices,
                                                   location where) const {
  if (!builder_)
    reject("step_of", where, "it was not made by train_data_parallel()");
  return builder_->form(devices, where);
}

} // namespace troupe
