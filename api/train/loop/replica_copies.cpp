#include "troupe/api/train/loop/replica_copies.hpp"
// Builds the graph of replicas with copies, and their savers.

#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/train/checkpoint/saver_access.hpp"
#include "troupe/api/train/optimizers/learning_rate.hpp"

#include <algorithm>

namespace troupe {

namespace {

std::string without_prefix(const std::string& prefix, const std::string& name) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

} // namespace

std::vector<std::string> copy_devices(const replicas_options& options, int worker) {
  std::vector<std::string> names;
  for (const auto& device : options.worker_devices)
    names.push_back(options.ps_tasks == 0
                        ? concat('/', device)
                        : concat("/job:", options.worker_job, "/task:", worker, '/', device));
  return names;
}

replica_copies::replica_copies(const replicas::builder& build_model,
                               const replicas_options& options, int workers, location where)
    : options_(options), workers_(workers), where_(where),
      counters_(std::make_shared<std::vector<variable_handle>>()) {
  for (int i = 0; i < workers; ++i)
    for (auto& device : copy_devices(options, i))
      devices_.push_back(std::move(device));
  auto build = [&](const replica& copy) {
    auto built = build_model(graph_, copy.index());
    if (built.loss.node && &built.loss.node->graph() != &graph_)
      reject("replicas", where, "the loss is ", built.loss.node->description(),
             " of another graph: the model must add to the one that it is given");
    if (built.feeds.empty() == static_cast<bool>(options.batch))
      reject("replicas", where,
             options.batch ? "replicas_options::batch is set, and the model returns no feeds"
                           : "the model returns feeds, and replicas_options::batch is empty");
    counters_->push_back(step_counter(graph_, where));
    models_.push_back(std::move(built));
    return models_.back().loss;
  };
  auto next = size_t{0};
  auto make_optimizer = [&] {
    auto on = graph_.on(devices_[next], where);
    return options.make_optimizer((*counters_)[next++]);
  };
  data_parallel_options training_options{.transform_gradients = options.transform_gradients};
  training_options.after_update = [counters = counters_, where](const replica& copy,
                                                                node* updated) {
    return count_steps(updated, (*counters)[static_cast<size_t>(copy.index())], where);
  };
  training_ = train_data_parallel(graph_, devices_, build, make_optimizer, training_options, where);
  // A model that needs all replicas is rejected now, not when one is lost.
  if (devices_.size() > 1 && (options.elastic || options.min_workers < workers))
    try {
      training_.step_of({devices_.front()}, where);
    } catch (const error& cause) {
      reject("replicas", where, cause.what(), "; if all workers are needed, set min_workers");
    }
  for (size_t i = 1; i < models_.size(); ++i)
    if (models_[i].feeds.size() != models_.front().feeds.size())
      reject("replicas", where, "the model makes other feeds for replica ", i,
             " than for replica 0: it must build the same for each");
}

size_t replica_copies::replica_on(const std::string& device) const {
  auto position = std::ranges::find(devices_, device);
  if (position == devices_.end())
    throw error{failure(error_kind::internal, "no replica is on ", device)};
  return static_cast<size_t>(position - devices_.begin());
}

data_parallel_step replica_copies::step_of(const std::vector<std::string>& devices) const {
  return training_.step_of(devices, where_);
}

node* replica_copies::initializer(size_t replica) {
  auto& initializer_node = initializers_[replica];
  if (initializer_node)
    return initializer_node;
  std::vector<node*> initializers;
  for (const auto& variable : training_.variables[replica])
    if (variable.initializer)
      initializers.push_back(variable.initializer);
  auto on = graph_.on(devices_[replica], where_);
  return initializer_node = graph_.group(initializers, concat("initialize_", replica), where_);
}

// Maps the names of a replica's variables to those of replica 0, without its prefix.
std::map<std::string, std::string> replica_copies::checkpoint_names(size_t replica) const {
  std::map<std::string, std::string> names;
  const auto& variables = training_.variables;
  for (size_t i = 0; i < variables[replica].size(); ++i)
    names[std::string{variables[replica][i].name()}] =
        without_prefix(scope_of(0), std::string{variables[0][i].name()});
  return names;
}

void replica_copies::release_folder() {
  for (auto& [replica, checkpoints] : savers_) {
    saver_access::watch(checkpoints, {});
    saver_access::use_lock(checkpoints, nullptr);
  }
}

saver& replica_copies::saver_of(size_t replica, const saver_options& saver_settings) {
  auto existing = savers_.find(replica);
  if (existing != savers_.end())
    return existing->second;
  auto options = saver_settings;
  options.name_in_checkpoint = [names = checkpoint_names(replica), prefix = scope_of(replica),
                                rename =
                                    saver_settings.name_in_checkpoint](const std::string& name) {
    auto entry = names.find(name);
    auto common_name = entry != names.end() ? entry->second : without_prefix(prefix, name);
    return rename ? rename(common_name) : common_name;
  };
  std::vector<edge> variables;
  for (const auto& variable : training_.variables[replica])
    if (!detail::is_local_variable(*variable.ref.node))
      variables.push_back(variable);
  auto on = graph_.on(devices_[replica], where_);
  return savers_.try_emplace(replica, graph_, variables, options_.checkpoints, options, where_)
      .first->second;
}

} // namespace troupe
