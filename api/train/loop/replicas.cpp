#include "troupe/api/train/loop/replicas.hpp"
// Checks the options of replicas, and builds their graphs.

#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/train/loop/replicas_copies_loop.hpp"
#include "troupe/api/train/loop/replicas_loop.hpp"
#include "troupe/api/train/loop/training_values.hpp"
#include "troupe/api/train/optimizers/indexed_slices.hpp"
#include "troupe/api/train/optimizers/learning_rate.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace troupe {
namespace {

using location = std::source_location;

constexpr const char* function_name = "replicas";
constexpr int64_t min_sparsified = 64; // elements

// Checks the options that only all_reduce has, and those that it does not support.
template <class Fail>
void check_copies(const replicas_options& options, const Fail& fail) {
  if (options.worker_devices.empty())
    fail("worker_devices must name at least one device, such as cpu:0");
  std::set<std::string> devices;
  for (const auto& device : options.worker_devices) {
    auto name = device_name::parse('/' + device);
    if (!name || name->kind.empty() || name->ordinal < 0 || !name->job.empty() || name->task >= 0)
      fail("worker_devices must be devices without a job and a task, such as gpu:1, got '", device,
           "'");
    if (!devices.insert(to_string(*name)).second)
      fail("worker_devices has ", device, " twice");
  }
  if (options.ps_tasks == 0 && options.workers != 1)
    fail("workers must be 1 if ps_tasks is 0, because all nodes are in one task, got ",
         options.workers);
  if (options.min_workers < 1 || (!options.elastic && options.min_workers > options.workers))
    fail("min_workers must be at least 1",
         options.elastic ? "" : concat(" and at most workers, ", options.workers), ", got ",
         options.min_workers);
  if (options.top_k_fraction < 1)
    fail("top_k_fraction must be 1 with all_reduce, which sends whole gradients, got ",
         options.top_k_fraction);
  if (options.checkpoint_options.save_all_state)
    fail("checkpoint_options.save_all_state is not supported with all_reduce, whose checkpoints "
         "have the state of one replica");
}

void check(const replicas_options& options, location where) {
  auto fail = [&](const auto&... parts) { reject(function_name, where, parts...); };
  if (options.workers < 1 || options.workers > replicas_limit)
    fail("workers must be 1 to ", replicas_limit, ", got ", options.workers);
  if (options.ps_tasks < 0)
    fail("ps_tasks must not be negative, got ", options.ps_tasks);
  if (options.backups < 0 || options.backups >= options.workers)
    fail("backups must be 0 to ", options.workers - 1, ", fewer than workers, got ",
         options.backups);
  if (options.backups > 0 && options.mode != replica_mode::sync)
    fail("backups must be 0 unless the mode is sync, got the mode ", to_string(options.mode));
  if (options.mode == replica_mode::all_reduce)
    check_copies(options, fail);
  if (options.elastic && options.ps_tasks == 0)
    fail("elastic needs ps_tasks above 0: each task of the worker job has a replica");
  if (options.max_staleness < 0)
    fail("max_staleness must not be negative, got ", options.max_staleness);
  if (!(options.top_k_fraction > 0 && options.top_k_fraction <= 1))
    fail("top_k_fraction must be above 0 and at most 1, got ", options.top_k_fraction);
  if (!options.make_optimizer)
    fail("make_optimizer is empty: it must create the optimizer");
  if (options.checkpoints.empty() &&
      (options.checkpoint_steps > 0 || options.checkpoint_seconds > 0))
    fail("checkpoints need a folder: set replicas_options::checkpoints");
  if (options.checkpoint_options.keep_best > 0)
    fail("keep_best needs a metric, which replicas do not have");
  if (!(options.retry_delay_seconds >= 0 && options.checkpoint_seconds >= 0 &&
        options.time_limit >= 0))
    fail("retry_delay_seconds, checkpoint_seconds and time_limit must not be negative, got ",
         options.retry_delay_seconds, ", ", options.checkpoint_seconds, " and ",
         options.time_limit);
  if (!(options.lost_timeout_seconds > 0 && options.step_timeout_seconds > 0 &&
        options.give_up_timeout_seconds > 0))
    fail("lost_timeout_seconds, step_timeout_seconds and give_up_timeout_seconds must be positive, "
         "got ",
         options.lost_timeout_seconds, ", ", options.step_timeout_seconds, " and ",
         options.give_up_timeout_seconds);
}

// Adds, for each variable, an edge that tells whether it has a value.
std::vector<edge> add_checks(graph_builder& to, location where) {
  std::vector<edge> checks;
  for (const auto& variable : detail::model_variables(to)) {
    auto on = to.on(variable.node->device(), where);
    checks.push_back(variable.node->op().outputs[0].handle
                         ? var_is_initialized_op(variable, {}, where)
                         : is_variable_initialized(variable, {}, where));
  }
  return checks;
}

// Builds the graph of one replica, or of the chief.
class graph_maker {
public:
  graph_maker(const replicas_options& options, int replica, bool is_chief, location where)
      : options_(options), replica_(replica), is_chief_(is_chief), where_(where),
        graph_(std::make_unique<graph_builder>()), g_(*graph_) {}

  void build(const replicas::builder& build_model) {
    auto on = g_.on(devices(), where_);
    model_ = build_model(g_, replica_);
    if (model_.loss.is_empty() || !floating.contains(model_.loss.type()) ||
        !model_.loss.dims().compatible(partial_shape{}))
      reject(function_name, where_, "the model must return its loss, a floating-point scalar");
    if (&model_.loss.node->graph() != &g_)
      reject(function_name, where_, "the loss is ", model_.loss.node->description(),
             " of another graph: the model must add to the one that it is given");
    if (model_.feeds.empty() == static_cast<bool>(options_.batch))
      reject(function_name, where_,
             options_.batch ? "replicas_options::batch is set, and the model returns no feeds"
                            : "the model returns feeds, and replicas_options::batch is empty");
    for (const auto& variable : g_.variables())
      variables_.push_back(variable);
    gradients_ = optimizer::compute_gradients(model_.loss, {}, where_);
    {
      auto device_scope = first_ps();
      counter_ = step_counter(g_, where_);
    }
    auto name_scope = g_.scope(function_name, where_);
    if (!is_chief_ && options_.ps_tasks > 0) {
      auto worker_scope = g_.on(worker(), where_);
      probe_ = no_op(g_, "probe", where_);
    }
    if (!is_chief_ && options_.top_k_fraction < 1)
      sparsify();
    if (options_.mode == replica_mode::sync)
      is_chief_ ? add_mean_step() : add_gradient_step();
    else
      add_direct_step();
    if (is_chief_)
      add_clock_nodes();
  }

  replica_graph replica() && {
    return {std::move(graph_), std::move(model_), label_, next_, train_, probe_, prepare_};
  }

  chief_graph chief() && {
    auto on = first_ps();
    chief_.initializer = g_.initializer(where_);
    chief_.initialized = add_checks(g_, where_);
    chief_.global_step = counter_;
    chief_.label = label_;
    chief_.model = model_; // replicas that are built later are compared with it
    chief_.graph = std::move(graph_);
    return std::move(chief_);
  }

  void check_like(const graph_maker& other) const {
    auto same_variables =
        std::ranges::equal(variables_, other.variables_, [](const auto& a, const auto& b) {
          return a.name() == b.name() && a.type() == b.type() && a.dims() == b.dims() &&
                 a.ref.node->device() == b.ref.node->device();
        });
    auto same_gradients =
        std::ranges::equal(gradients_, other.gradients_, [](const auto& a, const auto& b) {
          return a.variable.node->name() == b.variable.node->name() &&
                 slices_of(a.gradient).has_value() == slices_of(b.gradient).has_value();
        });
    if (!same_variables || !same_gradients || model_.feeds.size() != other.model_.feeds.size())
      reject(function_name, where_, "the model makes other variables, gradients or feeds for ",
             "replica ", replica_, " than for the chief: it must build the same for each");
  }

private:
  device_function devices() const {
    if (options_.ps_tasks == 0)
      return [](const node_spec&, const op_def&) { return std::string{}; };
    return replica_devices({.ps_tasks = options_.ps_tasks,
                            .ps_job = options_.ps_job,
                            .worker = worker(),
                            .variables = options_.variables},
                           where_);
  }

  // The device of nodes that do not belong to a variable.
  std::string worker() const {
    return options_.ps_tasks == 0 ? ""
           : is_chief_            ? concat("/job:", options_.ps_job, "/task:0")
                                  : concat("/job:", options_.worker_job, "/task:", replica_);
  }

  graph_scope first_ps() {
    return g_.on(options_.ps_tasks == 0 ? "" : concat("/job:", options_.ps_job, "/task:0"), where_);
  }

  edge make_clock() {
    auto on = first_ps();
    return troupe::replica_clock(g_, replicas_limit, {.shared_name = "replicas/clock"}, "clock",
                                 where_);
  }

  edge add_placeholder(std::string_view name, dtype type = dtype::i64) {
    auto on = first_ps();
    return g_.placeholder(type, shape{}, name, where_);
  }

  // Returns the accumulator of a variable's gradients, on the device of the variable. Graphs share
  // it by name.
  edge accumulator_of(const variable_gradient& entry) {
    auto on = g_.on(entry.variable.node->device(), where_);
    auto name = concat("replicas/", entry.variable.node->name());
    if (slices_of(entry.gradient))
      return sparse_conditional_accumulator(
          g_, entry.variable.type(),
          {.shape = entry.variable.dims(), .shared_name = name, .reduction_type = "MEAN_OF_ALL"},
          {}, where_);
    return conditional_accumulator(g_, entry.variable.type(),
                                   {.shape = entry.variable.dims(), .shared_name = name}, {},
                                   where_);
  }

  // Sends only the greatest elements of dense gradients. The chief uses complete gradients. The
  // remainder is stored after all other work of the step: a failed step is repeated with the same
  // batch, which must not count twice.
  void sparsify() {
    std::vector<node*> cleared;
    for (auto& entry : gradients_) {
      const auto& dims = entry.variable.dims();
      if (slices_of(entry.gradient) || !dims.fully_known() ||
          dims.known().elements() < min_sparsified)
        continue;
      auto share = options_.top_k_fraction * static_cast<double>(dims.known().elements());
      auto on = g_.on(worker(), where_);
      auto remainder_variable =
          g_.variable(entry.variable.type(), dims,
                      concat("rest_", replica_, '/', entry.variable.node->name()), where_);
      auto next_remainder =
          g_.variable(entry.variable.type(), dims,
                      concat("next_rest_", replica_, '/', entry.variable.node->name()), where_);
      auto zero = value_or_throw(convert_literal(tensor::scalar(0.0f), entry.variable.type()));
      auto extents = dims.known();
      auto shape_tensor = tensor::vector<int64_t>({extents.begin(), extents.end()});
      cleared.push_back(
          assign(remainder_variable, fill(g_, shape_tensor, zero, {}, where_), {}, where_).node);
      auto top = sparsify_top_k(assign(next_remainder, remainder_variable, {}, where_),
                                entry.gradient, static_cast<int64_t>(std::ceil(share)), {}, where_);
      remainders_.push_back({remainder_variable, next_remainder});
      auto variable_scope = g_.on(entry.variable.node->device(), where_);
      entry.gradient = densify_top_k(top.values, top.positions, shape_tensor, {}, where_);
    }
    if (!cleared.empty())
      prepare_ = g_.group(cleared, "prepare", where_);
  }

  // Stores the new remainders for the next step, after node `last`.
  node* keep_remainders(node* last) {
    std::vector<node*> stored{last};
    auto later = g_.after({last}, where_);
    auto on = g_.on(worker(), where_);
    for (const auto& entry : remainders_)
      stored.push_back(assign(entry.now, entry.next, {}, where_).node);
    return g_.group(stored, "keep_rests", where_);
  }

  // sync, a replica: adds its gradients to the accumulators, and waits for the next step.
  void add_gradient_step() {
    label_ = add_placeholder("label");
    auto clock = make_clock();
    std::vector<node*> applied;
    for (const auto& entry : gradients_) {
      auto accumulator = accumulator_of(entry);
      auto rows = summed_slices_of(entry.gradient);
      auto on = g_.on(entry.variable.node->device(), where_);
      if (rows)
        applied.push_back(sparse_accumulator_apply_gradient(
            accumulator, label_, rows->indices, rows->values, tensor::vector<int64_t>({}), false,
            {.contributor = replica_}, {}, where_));
      else
        applied.push_back(accumulator_apply_gradient(accumulator, label_, entry.gradient,
                                                     {.contributor = replica_}, {}, where_));
    }
    auto later = g_.after(applied, where_);
    auto on = first_ps();
    next_ = replica_clock_await(clock, label_, "next", where_);
    if (!remainders_.empty())
      train_ = keep_remainders(next_.node);
  }

  // sync, the chief: takes the mean of the first gradients, and updates the variables. All means
  // are taken before any is applied: a step that fails earlier has changed nothing.
  void add_mean_step() {
    label_ = add_placeholder("label");
    auto clock = make_clock();
    operand required = options_.workers - options_.backups;
    if (options_.elastic)
      required = chief_.required = add_placeholder("required", dtype::i32);
    struct mean_rows {
      edge values, indices;
    };
    std::vector<mean_rows> means;
    std::vector<node*> takes, labels, clears;
    for (const auto& entry : gradients_) {
      auto accumulator = accumulator_of(entry);
      auto on = g_.on(entry.variable.node->device(), where_);
      labels.push_back(accumulator_set_global_step(accumulator, label_, {}, where_));
      clears.push_back(accumulator_clear(accumulator, {}, where_));
      if (slices_of(entry.gradient)) {
        auto rows = sparse_accumulator_take_gradient(accumulator, required, entry.variable.type(),
                                                     {}, where_);
        means.push_back({rows.values, rows.indices});
      } else {
        means.push_back(
            {accumulator_take_gradient(accumulator, required, entry.variable.type(), {}, where_),
             {}});
      }
      takes.push_back(means.back().values.node);
    }
    std::vector<variable_gradient> mean_gradients;
    {
      auto later = g_.after(takes, where_);
      for (size_t i = 0; i < means.size(); ++i) {
        const auto& variable = gradients_[i].variable;
        auto on = g_.on(variable.node->device(), where_);
        auto values = identity(means[i].values, {}, where_);
        if (means[i].indices)
          values = unsorted_segment_sum(values, identity(means[i].indices, {}, where_),
                                        variable.dims().extents()[0], {}, where_);
        mean_gradients.push_back({variable, values});
      }
    }
    auto* counted = apply(mean_gradients);
    chief_.set_labels = g_.group(labels, "set_labels", where_);
    chief_.clear = g_.group(clears, "clear", where_);
    auto on = first_ps();
    chief_.open = replica_clock_set(clock, label_, "open", where_);
    chief_.opened = replica_clock_read(clock, "opened", where_);
    auto later = g_.after({counted}, where_);
    chief_.apply = replica_clock_set(clock, label_, "apply", where_);
  }

  // async and bounded: updates the variables immediately. The chief also has the slots of the
  // optimizer.
  void add_direct_step() {
    train_ = apply(gradients_);
    auto* applied = train_;
    if (!remainders_.empty())
      train_ = keep_remainders(applied);
    if (options_.mode != replica_mode::bounded || is_chief_)
      return;
    auto clock = make_clock();
    auto later = g_.after({applied}, where_);
    auto on = first_ps();
    next_ = replica_clock_tick(clock, int64_t{replica_}, options_.max_staleness, "next", where_);
  }

  void add_clock_nodes() {
    if (options_.mode != replica_mode::bounded)
      return;
    auto clock = make_clock();
    chief_.replica = add_placeholder("replica");
    auto on = first_ps();
    chief_.join = replica_clock_join(clock, chief_.replica, "join", where_);
    chief_.leave = replica_clock_leave(clock, chief_.replica, "leave", where_);
  }

  node* apply(const std::vector<variable_gradient>& gradients) {
    auto method = options_.make_optimizer(counter_);
    if (!method)
      reject(function_name, where_, "replicas_options::make_optimizer returned no optimizer");
    auto changed =
        options_.transform_gradients ? options_.transform_gradients(gradients) : gradients;
    auto on = first_ps();
    auto* applied = method->apply_gradients(changed, where_);
    return count_steps(applied, counter_, where_);
  }

  const replicas_options& options_;
  const int replica_;
  const bool is_chief_;
  const location where_;
  std::unique_ptr<graph_builder> graph_;
  graph_builder& g_;
  replica_step model_;
  std::vector<variable_handle> variables_; // of the model
  std::vector<variable_gradient> gradients_;
  variable_handle counter_;
  edge label_, next_;
  node *train_ = nullptr, *probe_ = nullptr, *prepare_ = nullptr;
  chief_graph chief_;
  struct remainder {
    variable_handle now, next;
  };
  std::vector<remainder> remainders_; // of gradients that are sent in part
};

} // namespace

std::string_view to_string(replica_mode mode) noexcept {
  switch (mode) {
    case replica_mode::async: return "async";
    case replica_mode::bounded: return "bounded";
    case replica_mode::sync: return "sync";
    case replica_mode::all_reduce: return "all_reduce";
  }
  return "unknown";
}

replicas::replicas(const builder& build_model, replicas_options options, location where)
    : state_(std::make_shared<state>()) {
  check(options, where);
  auto& shared = *state_;
  shared.options = std::move(options);
  if (shared.options.mode == replica_mode::all_reduce) {
    shared.build_copies = [&shared, build_model, where](int workers) {
      return std::make_shared<replica_copies>(build_model, shared.options, workers, where);
    };
    auto copies = shared.build_copies(shared.options.workers);
    shared.chief.model = copies->model(0);
    shared.chief.global_step = copies->counter(0);
    shared.copies.push_back(std::move(copies));
    return;
  }
  auto chief = std::make_shared<graph_maker>(shared.options, 0, true, where);
  chief->build(build_model);
  shared.build = [&shared, build_model, chief, where](int number) {
    graph_maker maker{shared.options, number, false, where};
    maker.build(build_model);
    maker.check_like(*chief);
    return std::move(maker).replica();
  };
  for (int i = 0; i < shared.options.workers; ++i)
    shared.workers.emplace(i, shared.build(i));
  shared.chief = std::move(*chief).chief();
  if (shared.options.checkpoints.empty())
    return;
  auto saver_settings = shared.options.checkpoint_options;
  saver_settings.on_warning = [&shared](const std::string& text) {
    shared.report_save_warning(text);
  };
  saver_settings.exact_random_state = false; // replicas run during the chief's steps
  shared.checkpoints.emplace(*shared.chief.graph, shared.options.checkpoints, saver_settings,
                             where);
}

replicas::~replicas() = default;

std::string replicas::state::newest_checkpoint() const {
  checkpoint_folder folder{real_files(), options.checkpoints};
  auto latest = folder.latest();
  return latest ? folder.path_of(*latest) : "";
}

void replicas::state::report_differences(const restore_report& report) {
  for (auto& text : differences_in(report))
    report_event(
        {.kind = replica_event_kind::warning, .step = report.step, .text = std::move(text)});
}

// An error of the disk does not prevent training: each save tries again, and reports the error.
void replicas::state::lock_folder(location where) {
  if (!make_folder_durably(real_files(), options.checkpoints))
    return;
  auto new_lock = saver_access::lock_folder(options.checkpoints, options.checkpoint_options,
                                            function_name, "saver_options::take_over", where);
  if (new_lock)
    lock = *std::move(new_lock);
  else if (new_lock.status().kind() == error_kind::already_exists)
    throw error{
        status{new_lock.status()}.with_context(concat("replicas (", to_string(where), ')'))};
}

replicas_report replicas::state::run(session& in, location where) {
  struct folder_guard { // releases the folder at the end of the run
    state& shared;
    ~folder_guard() {
      if (shared.checkpoints) {
        saver_access::watch(*shared.checkpoints, {});
        saver_access::use_lock(*shared.checkpoints, nullptr);
      }
      for (const auto& copies_graph : shared.copies)
        copies_graph->release_folder();
      shared.lock.reset();
    }
  } guard{*this};
  if (!options.checkpoints.empty()) {
    lock_folder(where);
    if (checkpoints)
      saver_access::use_lock(*checkpoints, lock);
  }
  if (options.mode == replica_mode::all_reduce)
    return copies_loop{shared_from_this(), in, where}.run();
  return loop{shared_from_this(), in, where}.run();
}

replicas_report replicas::run(session& in, location where) { return state_->run(in, where); }

void replicas::request_stop() noexcept {
  std::lock_guard guard{state_->mutex};
  state_->stop_requested = true;
  state_->changed.notify_all();
}

graph_builder& replicas::graph() noexcept {
  std::lock_guard guard{state_->mutex};
  return state_->copies.empty() ? *state_->chief.graph : state_->copies.front()->graph();
}
const replica_step& replicas::chief() const noexcept { return state_->chief.model; }
edge replicas::global_step() const noexcept { return state_->chief.global_step; }

graph_builder& replicas::graph_of(int replica) {
  std::lock_guard guard{state_->mutex};
  if (!state_->copies.empty()) {
    auto& last = *state_->copies.back();
    if (replica < 0 || static_cast<size_t>(replica) >= last.devices().size())
      throw error{invalid("there is no replica ", replica, " of ", last.devices().size())};
    return last.graph();
  }
  auto worker = state_->workers.find(replica);
  if (worker == state_->workers.end())
    throw error{invalid("there is no replica ", replica, " of ", state_->workers.size())};
  return *worker->second.graph;
}

} // namespace troupe
