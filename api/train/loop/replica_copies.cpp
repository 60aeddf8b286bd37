#include "troupe/api/train/loop/replica_copies.hpp"

#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/train/checkpoint/saver_access.hpp"
#include "troupe/api/train/optimizers/learning_rate.hpp"

#include <algorithm>

namespace troupe {

namespace {

std::string without(const std::string& prefix, const std::string& name) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

} // namespace

std::vector<std::string> copy_devices(const replicas_options& how, int worker) {
  std::vector<std::string> made;
  for (const auto& one : how.worker_devices)
    made.push_back(how.ps_tasks == 0 ? concat('/', one)
                                     : concat("/job:", how.worker_job, "/task:", worker, '/', one));
  return made;
}

replica_copies::replica_copies(const replicas::builder& model, const replicas_options& how,
                               int workers, location where)
    : how_(how), workers_(workers), where_(where),
      counters_(std::make_shared<std::vector<variable_handle>>()) {
  for (int i = 0; i < workers; ++i)
    for (auto& one : copy_devices(how, i))
      devices_.push_back(std::move(one));
  auto build = [&](const replica& at) {
    auto made = model(graph_, at.index());
    if (made.loss.node && &made.loss.node->graph() != &graph_)
      reject("replicas", where, "the loss is ", made.loss.node->description(),
             " of another graph: the model must add to the one that it is given");
    if (made.feeds.empty() == static_cast<bool>(how.batch))
      reject("replicas", where,
             how.batch ? "there are batches, and nothing to feed"
                       : "there are edges to feed, and no batches");
    counters_->push_back(step_counter(graph_, where));
    ends_.push_back(std::move(made));
    return ends_.back().loss;
  };
  auto next = size_t{0};
  auto make_optimizer = [&] {
    auto on = graph_.on(devices_[next], where);
    return how.make_optimizer((*counters_)[next++]);
  };
  data_parallel_options options{.change = how.change};
  options.behind = [counters = counters_, where](const replica& at, node* updated) {
    return count_steps(updated, (*counters)[static_cast<size_t>(at.index())], where);
  };
  training_ = train_data_parallel(graph_, devices_, build, make_optimizer, options, where);
  // What needs all of them is refused now, not when one is lost.
  if (devices_.size() > 1 && (how.elastic || how.least_workers < workers))
    try {
      training_.among({devices_.front()}, where);
    } catch (const error& why) {
      reject("replicas", where, why.what(),
             "; where all workers are needed, say so with least_workers");
    }
  for (size_t i = 1; i < ends_.size(); ++i)
    if (ends_[i].feeds.size() != ends_.front().feeds.size())
      reject("replicas", where, "the model makes other feeds for replica ", i,
             " than for replica 0: it must build the same for each");
}

size_t replica_copies::on(const std::string& device) const {
  auto found = std::ranges::find(devices_, device);
  if (found == devices_.end())
    throw error{failure(error_kind::internal, "no replica is on ", device)};
  return static_cast<size_t>(found - devices_.begin());
}

data_parallel_step replica_copies::among(const std::vector<std::string>& devices) const {
  return training_.among(devices, where_);
}

node* replica_copies::initializer(size_t replica) {
  auto& made = initializers_[replica];
  if (made)
    return made;
  std::vector<node*> all;
  for (const auto& one : training_.variables[replica])
    if (one.initializer)
      all.push_back(one.initializer);
  auto on = graph_.on(devices_[replica], where_);
  return made = graph_.group(all, concat("initialize_", replica), where_);
}

// Those of the first, without its prefix.
std::map<std::string, std::string> replica_copies::names_there(size_t replica) const {
  std::map<std::string, std::string> made;
  const auto& all = training_.variables;
  for (size_t i = 0; i < all[replica].size(); ++i)
    made[std::string{all[replica][i].name()}] = without(scope_of(0), std::string{all[0][i].name()});
  return made;
}

void replica_copies::let_go_of_folder() {
  for (auto& [replica, by] : savers_) {
    saver_access::watch(by, {});
    saver_access::use_lock(by, nullptr);
  }
}

saver& replica_copies::saver_of(size_t replica, const saver_options& keep) {
  auto found = savers_.find(replica);
  if (found != savers_.end())
    return found->second;
  auto with = keep;
  with.name_there = [names = names_there(replica), prefix = scope_of(replica),
                     then = keep.name_there](const std::string& name) {
    auto known = names.find(name);
    auto made = known != names.end() ? known->second : without(prefix, name);
    return then ? then(made) : made;
  };
  std::vector<edge> variables;
  for (const auto& variable : training_.variables[replica])
    if (!detail::is_local_variable(*variable.ref.node))
      variables.push_back(variable);
  auto on = graph_.on(devices_[replica], where_);
  return savers_.try_emplace(replica, graph_, variables, how_.checkpoints, with, where_)
      .first->second;
}

} // namespace troupe
