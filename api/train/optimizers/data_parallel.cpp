#include "troupe/api/train/optimizers/data_parallel.hpp"

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

using members = std::vector<size_t>; // replicas

} // namespace

// Knows the replicas and their gradients, from which it makes steps among all or some of them.
class detail::data_parallel_builder {
public:
  data_parallel_builder(graph_builder& in, const std::vector<std::string>& devices,
                        const data_parallel_options& options, location where)
      : in_(in), devices_(devices), options_(options), where_(where) {}

  void build(const replica_model& model) {
    for (size_t i = 0; i < devices_.size(); ++i)
      build(i, model);
    check_alike();
    parcels_ = parcels();
    packed_.resize(devices_.size());
  }

  data_parallel_step form_all(const optimizer_maker& make_optimizer) {
    for (size_t i = 0; i < devices_.size(); ++i) {
      optimizers_.push_back(make_optimizer());
      if (!optimizers_.back())
        reject("train_data_parallel", where_, "no optimizer was made");
    }
    members all(devices_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    auto made = form(all);
    check_alike();
    return made;
  }

  // The first of them gives the others its variables.
  data_parallel_step form(const members& which) {
    auto sorted = which;
    std::ranges::sort(sorted);
    auto& made = trained_[sorted];
    if (!made.train) {
      auto means = add_up(sorted);
      std::vector<node*> applied;
      for (size_t i = 0; i < sorted.size(); ++i)
        applied.push_back(apply(sorted[i], means[i]));
      made.train = group(sorted.front(), applied, "train");
      std::vector<edge> losses;
      for (auto i : sorted)
        losses.push_back(losses_[i]);
      made.loss = all_reduce(losses, devices_of(sorted), reduce_by::mean, where_).front();
    }
    auto& given = given_[{which.front(), sorted}];
    if (!given)
      given = synchronize(which);
    return {made.train, given, made.loss};
  }

  data_parallel_step form(const std::vector<std::string>& devices, location where) {
    where_ = where;
    if (devices.empty())
      reject("among", where, "needs at least one device");
    members which;
    for (const auto& one : devices) {
      auto found = std::ranges::find(devices_, one);
      if (found == devices_.end())
        reject("among", where, "no replica is on '", one, "': there is ", join(devices_));
      which.push_back(static_cast<size_t>(found - devices_.begin()));
      if (std::ranges::count(devices, one) > 1)
        reject("among", where, "names ", one, " twice");
    }
    if (which.size() < devices_.size())
      check_apart(which);
    const auto variables = in_.variables().size();
    auto named = in_.scope("among", where);
    auto made = form(which);
    if (in_.variables().size() != variables)
      reject("among", where,
             "data_parallel_options::change makes variables, which cannot be "
             "divided among fewer replicas");
    return made;
  }

  std::vector<std::vector<variable_handle>> variables() const { return variables_; }
  std::vector<std::shared_ptr<optimizer>> optimizers() const { return optimizers_; }

private:
  static std::set<task_name> tasks_of(const std::vector<std::string>& devices) {
    std::set<task_name> tasks;
    for (const auto& one : devices)
      tasks.insert(value_or_throw(device_name::parse(one)).on_task());
    return tasks;
  }

  static std::string join(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& one : names)
      text += concat(text.empty() ? "" : ", ", one);
    return text;
  }

  std::vector<std::string> devices_of(const members& which) const {
    std::vector<std::string> names;
    for (auto i : which)
      names.push_back(devices_[i]);
    return names;
  }

  replica replica_at(size_t which) const {
    return {devices_[which], static_cast<int>(which), static_cast<int>(devices_.size())};
  }

  // Replicas that exchange something themselves need each other.
  void check_apart(const members& which) const {
    std::vector<bool> seen(in_.nodes().size(), false);
    std::vector<const node*> open;
    auto visit = [&](const node* one) {
      if (!seen[one->index()])
        open.push_back(one);
      seen[one->index()] = true;
    };
    for (auto i : which) {
      visit(losses_[i].node);
      for (const auto& one : gradients_[i])
        visit(one.gradient.node);
    }
    while (!open.empty()) {
      const auto* at = open.back();
      open.pop_back();
      if (is_collective(at->op()))
        reject("among", where_, at->description(),
               " exchanges tensors between replicas, which the model does: all of them are needed");
      for (const auto& input : at->inputs())
        visit(input.node);
      for (const auto* before : at->controls())
        visit(before);
    }
  }

  // Calls it with new nodes on the device, and notes which variables it makes.
  template <class Make>
  void on_replica(size_t which, Make make) {
    auto begin = in_.variables().size();
    {
      auto on = in_.on(devices_[which], where_);
      make();
    }
    auto all = in_.variables().subspan(begin);
    variables_.resize(devices_.size());
    variables_[which].insert(variables_[which].end(), all.begin(), all.end());
  }

  void build(size_t which, const replica_model& model) {
    on_replica(which, [&] {
      auto named = in_.scope(concat("replica_", which), where_);
      auto loss = model(replica_at(which));
      if (!loss.exists() || !floating.contains(loss.type()) ||
          !loss.dims().compatible(partial_shape{}))
        reject("train_data_parallel", where_, "the model must return its loss, a floating scalar");
      losses_.push_back(loss);
      gradients_.push_back(optimizer::compute_gradients(loss, {}, where_));
    });
    for (const auto& one : gradients_.back())
      if (std::ranges::find(variables_[which], one.variable.node, [](const auto& known) {
            return known.ref.node;
          }) == variables_[which].end())
        reject("train_data_parallel", where_, one.variable.node->description(),
               " is no variable of replica ", which,
               ": the model must make its variables each time that it is called");
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

  // What the gradient takes, where all replicas know it by now.
  std::optional<int64_t> bytes_of(size_t gradient) const {
    const auto& dims = gradients_.front()[gradient].variable.dims();
    for (const auto& of_replica : gradients_)
      if (!dims.fully_known() || !(of_replica[gradient].gradient.dims() == dims))
        return {};
    return dims.elements() *
           static_cast<int64_t>(size_of(gradients_.front()[gradient].gradient.type()));
  }

  // By the order in which the first replica has made its variables: gradients of the last layers
  // are known first.
  std::vector<size_t> last_first() const {
    const auto& all = gradients_.front();
    std::vector<size_t> order(all.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, std::greater{}, [&](size_t v) { return all[v].variable.node->id(); });
    return order;
  }

  // Which gradients travel together.
  using parcel = std::vector<size_t>;
  std::vector<parcel> parcels() const {
    struct open {
      size_t which;
      int64_t bytes;
    };
    const auto most = bucket_bytes();
    std::map<dtype, open> filling;
    std::vector<parcel> made;
    for (auto v : last_first()) {
      auto bytes = bytes_of(v).value_or(INT64_MAX);
      if (bytes > most) {
        made.push_back({v});
        continue;
      }
      auto type = gradients_.front()[v].gradient.type();
      auto found = filling.find(type);
      if (found == filling.end() || found->second.bytes > most - bytes) {
        found = filling.insert_or_assign(type, open{made.size(), 0}).first;
        made.emplace_back();
      }
      found->second.bytes += bytes;
      made[found->second.which].push_back(v);
    }
    return made;
  }

  edge pack(size_t replica, const parcel& which) {
    const auto& all = gradients_[replica];
    if (which.size() == 1)
      return all[which.front()].gradient;
    auto on = in_.on(devices_[replica], where_);
    std::vector<edge> flat;
    for (auto v : which)
      flat.push_back(reshape(all[v].gradient, {-1}, {}, where_));
    return concatenate(flat, 0, {}, where_);
  }

  const std::vector<edge>& packed(size_t replica) {
    auto& all = packed_[replica];
    for (size_t k = all.size(); k < parcels_.size(); ++k)
      all.push_back(pack(replica, parcels_[k]));
    return all;
  }

  void unpack(std::vector<variable_gradient>& all, const parcel& which, edge mean) {
    if (which.size() == 1) {
      all[which.front()].gradient = identity(mean, {}, where_);
      return;
    }
    std::vector<int64_t> sizes;
    for (auto v : which)
      sizes.push_back(all[v].variable.dims().elements());
    auto parts =
        split_v(mean, tensor::vector(sizes), 0, static_cast<int64_t>(which.size()), {}, where_);
    for (size_t i = 0; i < which.size(); ++i) {
      auto& one = all[which[i]];
      auto dims = one.variable.dims().known();
      one.gradient =
          reshape(parts[i], tensor::vector<int64_t>({dims.begin(), dims.end()}), {}, where_);
    }
  }

  // Where a replica is: what names no device may be placed on a task that is gone.
  node* group(size_t replica, const std::vector<node*>& nodes, std::string_view name) {
    auto on = in_.on(devices_[replica], where_);
    return in_.group(nodes, name, where_);
  }

  // The mean gradients, for each of these. Nothing is applied before all is there: a step that
  // fails while it computes leaves all as they were, and what is applied is one stretch of code.
  std::vector<std::vector<variable_gradient>> add_up(const members& which) {
    std::vector<std::vector<edge>> means; // of each parcel, on each device
    for (size_t k = 0; k < parcels_.size(); ++k) {
      std::vector<edge> parts;
      for (auto i : which)
        parts.push_back(packed(i)[k]);
      means.push_back(all_reduce(parts, devices_of(which), reduce_by::mean, where_));
    }
    std::vector<std::vector<variable_gradient>> found;
    for (size_t i = 0; i < which.size(); ++i) {
      std::vector<node*> sums;
      for (const auto& one : means)
        sums.push_back(one[i].node);
      auto on = in_.on(devices_[which[i]], where_);
      auto later = in_.after(sums);
      auto& mine = found.emplace_back(gradients_[which[i]]);
      for (size_t k = 0; k < parcels_.size(); ++k)
        unpack(mine, parcels_[k], means[k][i]);
    }
    return found;
  }

  node* apply(size_t which, const std::vector<variable_gradient>& means) {
    node* applied = nullptr;
    // What an optimizer remembers of a variable has its name.
    on_replica(which, [&] {
      applied = optimizers_[which]->apply_gradients(
          options_.change ? options_.change(means) : means, where_);
      if (options_.behind)
        applied = options_.behind(replica_at(which), applied);
    });
    return applied;
  }

  // Where floats travel between tasks with fewer bits, the first gets those that it has sent.
  node* synchronize(const members& which) {
    std::vector<node*> assigned;
    const auto devices = devices_of(which);
    const auto tasks = tasks_of(devices);
    const auto& first = variables_[which.front()];
    for (size_t v = 0; v < first.size() && which.size() > 1; ++v) {
      auto copies = broadcast(first[v], devices, where_);
      for (size_t i = tasks.size() > 1 ? 0 : 1; i < which.size(); ++i)
        assigned.push_back(assign(variables_[which[i]][v], copies[i], {}, where_).node);
    }
    return group(which.front(), assigned, "synchronize");
  }

  graph_builder& in_;
  const std::vector<std::string> devices_;
  const data_parallel_options options_;
  location where_;
  std::vector<std::vector<variable_handle>> variables_;   // of each replica
  std::vector<std::shared_ptr<optimizer>> optimizers_;    // likewise
  std::vector<edge> losses_;                              // likewise
  std::vector<std::vector<variable_gradient>> gradients_; // likewise: its own
  std::vector<parcel> parcels_;
  std::vector<std::vector<edge>> packed_; // of each replica, its parcels
  std::map<members, data_parallel_step> trained_;
  std::map<std::pair<size_t, members>, node*> given_; // by who gives its variables
};

edge replica::part_of(edge batch, location where) const {
  if (!batch.exists())
    throw error{invalid("part_of (", to_string(where), "): the batch is an edge to nothing")};
  if (index_ < 0 || index_ >= count_)
    throw error{
        invalid("part_of (", to_string(where), "): there is no replica ", index_, " of ", count_)};
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
  need_function("train_data_parallel", where, make_optimizer, "what makes the optimizer");
  auto by = std::make_shared<detail::data_parallel_builder>(in, devices, options, where);
  by->build(model);
  auto all = by->form_all(make_optimizer);
  data_parallel_training made;
  made.train = all.train;
  made.synchronize = all.synchronize;
  made.loss = all.loss;
  made.variables = by->variables();
  made.optimizers = by->optimizers();
  made.builder_ = std::move(by);
  return made;
}

data_parallel_step data_parallel_training::among(const std::vector<std::string>& devices,
                                                 location where) const {
  if (!builder_)
    reject("among", where, "nothing was built");
  return builder_->form(devices, where);
}

} // namespace troupe
