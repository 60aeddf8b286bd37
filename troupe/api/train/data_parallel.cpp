#include "troupe/api/train/data_parallel.hpp"

#include "troupe/api/collectives.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/ops.hpp"
#include "troupe/api/reject.hpp"
#include "troupe/runtime/device/device_name.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

namespace troupe {
namespace {

using location = std::source_location;

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
        reject("train_data_parallel", where_, "the model must return its loss, a floating scalar");
      losses_.push_back(loss);
      gradients_.push_back(optimizer::compute_gradients(loss, {}, where_));
    });
    for (const auto& one : gradients_.back())
      if (std::ranges::find(made_.variables[which], one.variable.node, [](const auto& known) {
            return known.ref.node;
          }) == made_.variables[which].end())
        reject("train_data_parallel", where_, one.variable.node->description(),
               " is no variable of replica ", which,
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
        reject("train_data_parallel", where_, "the model makes ", first.size(), " variables for ",
               devices_.front(), " and others, ", other.size(), ", for ", devices_[i],
               ": it must build the same for each");
    }
  }

  int64_t bucket_bytes() const {
    auto first = value_or_throw(device_name::parse(devices_.front()));
    return options_.bucket_bytes.value_or(int64_t{first.kind == "gpu" ? 4096 : 64} << 10);
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

  void unpack(size_t replica, const parcel& which, edge mean) {
    auto& all = gradients_[replica];
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

  // Nothing is applied before all is there: a step that fails while it computes leaves all as they
  // were, and what is applied is one stretch of code.
  void add_up() {
    const auto all = parcels();
    std::vector<std::vector<edge>> means; // of each parcel, on each device
    for (const auto& one : all) {
      std::vector<edge> packed;
      for (size_t i = 0; i < devices_.size(); ++i)
        packed.push_back(pack(i, one));
      means.push_back(all_reduce(packed, devices_, reduce_by::mean, where_));
    }
    for (size_t i = 0; i < devices_.size(); ++i) {
      std::vector<node*> sums;
      for (const auto& one : means)
        sums.push_back(one[i].node);
      auto on = in_.on(devices_[i], where_);
      auto later = in_.after(sums);
      for (size_t k = 0; k < all.size(); ++k)
        unpack(i, all[k], means[k][i]);
    }
  }

  void apply(size_t which, const optimizer_maker& make_optimizer) {
    on_replica(which, [&] {
      auto by = make_optimizer();
      if (!by)
        reject("train_data_parallel", where_, "no optimizer was made");
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
    reject("train_data_parallel", where, "needs at least one device");
  if (options.bucket_bytes.value_or(0) < 0)
    reject("train_data_parallel", where, "bucket_bytes must not be negative, got ",
           *options.bucket_bytes);
  return builder{in, devices, options, where}.run(model, make_optimizer);
}

} // namespace troupe
