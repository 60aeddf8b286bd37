#include "troupe/api/train/loop/replicas.hpp"

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
constexpr int64_t least_to_sparsify = 64; // elements

// What all_reduce has to itself, and what it does not have.
template <class Wrong>
void check_copies(const replicas_options& how, const Wrong& wrong) {
  if (how.worker_devices.empty())
    wrong("all_reduce needs a device of each worker, such as cpu:0");
  std::set<std::string> devices;
  for (const auto& one : how.worker_devices) {
    auto name = device_name::parse('/' + one);
    if (!name || name->kind.empty() || name->ordinal < 0 || !name->job.empty() || name->task >= 0)
      wrong("worker_devices are devices of a task, such as gpu:1, got '", one, "'");
    if (!devices.insert(to_string(*name)).second)
      wrong("worker_devices has ", one, " twice");
  }
  if (how.ps_tasks == 0 && how.workers != 1)
    wrong("where all is in one task (ps_tasks = 0), there is one worker, got ", how.workers);
  if (how.least_workers < 1 || (!how.elastic && how.least_workers > how.workers))
    wrong("of ", how.workers, " workers, 1 to ", how.workers,
          " may be needed, got least_workers = ", how.least_workers);
  if (how.sent < 1)
    wrong("all_reduce sends whole gradients, got sent = ", how.sent);
  if (how.keep.all_state)
    wrong("a checkpoint of all_reduce is that of one replica: keep.all_state cannot be");
}

void check(const replicas_options& how, location where) {
  auto wrong = [&](const auto&... parts) { reject(function_name, where, parts...); };
  if (how.workers < 1 || how.workers > replicas_limit)
    wrong("workers must be 1 to ", replicas_limit, ", got ", how.workers);
  if (how.ps_tasks < 0)
    wrong("ps_tasks must not be negative, got ", how.ps_tasks);
  if (how.backups < 0 || how.backups >= how.workers)
    wrong("of ", how.workers, " workers, 0 to ", how.workers - 1, " may be backups, got ",
          how.backups);
  if (how.backups > 0 && how.mode != replica_mode::sync)
    wrong("backups need the mode sync, not ", to_string(how.mode));
  if (how.mode == replica_mode::all_reduce)
    check_copies(how, wrong);
  if (how.elastic && how.ps_tasks == 0)
    wrong("elastic needs ps tasks: replicas follow the tasks of a job of their own");
  if (how.max_lead < 0)
    wrong("max_lead must not be negative, got ", how.max_lead);
  if (!(how.sent > 0 && how.sent <= 1))
    wrong("sent is a share, above 0 and up to 1, got ", how.sent);
  if (!how.make_optimizer)
    wrong("there is no optimizer");
  if (how.checkpoints.empty() && (how.checkpoint_steps > 0 || how.checkpoint_seconds > 0))
    wrong("checkpoints need a folder");
  if (how.keep.keep_best > 0)
    wrong("keep_best needs a metric, which replicas do not have");
  if (!(how.retry_seconds >= 0 && how.checkpoint_seconds >= 0 && how.time_limit >= 0))
    wrong("retry_seconds, checkpoint_seconds and time_limit must not be negative, got ",
          how.retry_seconds, ", ", how.checkpoint_seconds, " and ", how.time_limit);
  if (!(how.lost_seconds > 0 && how.step_seconds > 0 && how.give_up_seconds > 0))
    wrong("lost_seconds, step_seconds and give_up_seconds must be positive, got ", how.lost_seconds,
          ", ", how.step_seconds, " and ", how.give_up_seconds);
}

// For each variable, whether it has a value.
std::vector<edge> add_checks(graph_builder& to, location where) {
  std::vector<edge> made;
  for (const auto& one : detail::model_variables(to)) {
    auto on = to.on(one.node->device(), where);
    made.push_back(one.node->op().outputs[0].handle ? var_is_initialized_op(one, {}, where)
                                                    : is_variable_initialized(one, {}, where));
  }
  return made;
}

// Builds one of the graphs: a replica's, or the chief's.
class graph_maker {
public:
  graph_maker(const replicas_options& how, int replica, bool is_chief, location where)
      : how_(how), replica_(replica), is_chief_(is_chief), where_(where),
        graph_(std::make_unique<graph_builder>()), g_(*graph_) {}

  void build(const replicas::builder& model) {
    auto on = g_.on(devices(), where_);
    ends_ = model(g_, replica_);
    if (ends_.loss.is_nothing() || !floating.contains(ends_.loss.type()) ||
        !ends_.loss.dims().compatible(partial_shape{}))
      reject(function_name, where_, "the model must return its loss, a floating scalar");
    if (&ends_.loss.node->graph() != &g_)
      reject(function_name, where_, "the loss is ", ends_.loss.node->description(),
             " of another graph: the model must add to the one that it is given");
    if (ends_.feeds.empty() == static_cast<bool>(how_.batch))
      reject(function_name, where_,
             how_.batch ? "there are batches, and nothing to feed"
                        : "there are edges to feed, and no batches");
    for (const auto& one : g_.variables())
      variables_.push_back(one);
    gradients_ = optimizer::compute_gradients(ends_.loss, {}, where_);
    {
      auto first = first_ps();
      counter_ = step_counter(g_, where_);
    }
    auto in = g_.scope(function_name, where_);
    if (!is_chief_ && how_.ps_tasks > 0) {
      auto at = g_.on(worker(), where_);
      probe_ = no_op(g_, "probe", where_);
    }
    if (!is_chief_ && how_.sent < 1)
      sparsify();
    if (how_.mode == replica_mode::sync)
      is_chief_ ? take() : give();
    else
      follow();
    if (is_chief_)
      serve();
  }

  replica_graph replica() && {
    return {std::move(graph_), std::move(ends_), label_, next_, train_, probe_, prepare_};
  }

  chief_graph chief() && {
    auto on = first_ps();
    chief_.initializer = g_.initializer(where_);
    chief_.initialized = add_checks(g_, where_);
    chief_.global_step = counter_;
    chief_.label = label_;
    chief_.ends = ends_; // replicas that are built later are compared with it
    chief_.graph = std::move(graph_);
    return std::move(chief_);
  }

  void check_like(const graph_maker& other) const {
    auto alike = std::ranges::equal(variables_, other.variables_, [](const auto& a, const auto& b) {
      return a.name() == b.name() && a.type() == b.type() && a.dims() == b.dims() &&
             a.ref.node->device() == b.ref.node->device();
    });
    auto moved = std::ranges::equal(gradients_, other.gradients_, [](const auto& a, const auto& b) {
      return a.variable.node->name() == b.variable.node->name() &&
             slices_of(a.gradient).has_value() == slices_of(b.gradient).has_value();
    });
    if (!alike || !moved || ends_.feeds.size() != other.ends_.feeds.size())
      reject(function_name, where_, "the model makes other variables, gradients or feeds for ",
             "replica ", replica_, " than for the chief: it must build the same for each");
  }

private:
  device_function devices() const {
    if (how_.ps_tasks == 0)
      return [](const node_spec&, const op_def&) { return std::string{}; };
    return replica_devices({.ps_tasks = how_.ps_tasks,
                            .ps_job = how_.ps_job,
                            .worker = worker(),
                            .variables = how_.variables},
                           where_);
  }

  // Where what is no variable goes.
  std::string worker() const {
    return how_.ps_tasks == 0 ? ""
           : is_chief_        ? concat("/job:", how_.ps_job, "/task:0")
                              : concat("/job:", how_.worker_job, "/task:", replica_);
  }

  graph_scope first_ps() {
    return g_.on(how_.ps_tasks == 0 ? "" : concat("/job:", how_.ps_job, "/task:0"), where_);
  }

  edge make_clock() {
    auto on = first_ps();
    return troupe::replica_clock(g_, replicas_limit, {.shared_name = "replicas/clock"}, "clock",
                                 where_);
  }

  edge make_number(std::string_view name, dtype type = dtype::i64) {
    auto on = first_ps();
    return g_.placeholder(type, shape{}, name, where_);
  }

  // The accumulator of a variable's gradients, beside the variable. Graphs share it by name.
  edge accumulator_of(const variable_gradient& of) {
    auto on = g_.on(of.variable.node->device(), where_);
    auto name = concat("replicas/", of.variable.node->name());
    if (slices_of(of.gradient))
      return sparse_conditional_accumulator(
          g_, of.variable.type(),
          {.shape = of.variable.dims(), .shared_name = name, .reduction_type = "MEAN_OF_ALL"}, {},
          where_);
    return conditional_accumulator(g_, of.variable.type(),
                                   {.shape = of.variable.dims(), .shared_name = name}, {}, where_);
  }

  // Of dense gradients, the greatest elements travel. The chief has whole ones. What is left of one
  // is kept when the step has done all else: a step that fails is run again with the same batch,
  // which must not count twice.
  void sparsify() {
    std::vector<node*> cleared;
    for (auto& one : gradients_) {
      const auto& dims = one.variable.dims();
      if (slices_of(one.gradient) || !dims.fully_known() ||
          dims.known().elements() < least_to_sparsify)
        continue;
      auto share = how_.sent * static_cast<double>(dims.known().elements());
      auto on = g_.on(worker(), where_);
      auto rest = g_.variable(one.variable.type(), dims,
                              concat("rest_", replica_, '/', one.variable.node->name()), where_);
      auto next =
          g_.variable(one.variable.type(), dims,
                      concat("next_rest_", replica_, '/', one.variable.node->name()), where_);
      auto zero = value_or_throw(converted(tensor::scalar(0.0f), one.variable.type()));
      auto extents = dims.known();
      auto of = tensor::vector<int64_t>({extents.begin(), extents.end()});
      cleared.push_back(assign(rest, fill(g_, of, zero, {}, where_), {}, where_).node);
      auto top = sparsify_top_k(assign(next, rest, {}, where_), one.gradient,
                                static_cast<int64_t>(std::ceil(share)), {}, where_);
      rests_.push_back({rest, next});
      auto beside = g_.on(one.variable.node->device(), where_);
      one.gradient = densify_top_k(top.values, top.positions, of, {}, where_);
    }
    if (!cleared.empty())
      prepare_ = g_.group(cleared, "prepare", where_);
  }

  // What is left of gradients becomes what the next step begins with, behind that node.
  node* keep_rests(node* behind) {
    std::vector<node*> kept{behind};
    auto later = g_.after({behind}, where_);
    auto on = g_.on(worker(), where_);
    for (const auto& one : rests_)
      kept.push_back(assign(one.now, one.next, {}, where_).node);
    return g_.group(kept, "keep_rests", where_);
  }

  // sync, a replica: gives its gradients, and waits for the next step.
  void give() {
    label_ = make_number("label");
    auto clock = make_clock();
    std::vector<node*> given;
    for (const auto& one : gradients_) {
      auto to = accumulator_of(one);
      auto rows = summed_slices_of(one.gradient);
      auto on = g_.on(one.variable.node->device(), where_);
      if (rows)
        given.push_back(sparse_accumulator_apply_gradient(to, label_, rows->indices, rows->values,
                                                          tensor::vector<int64_t>({}), false,
                                                          {.contributor = replica_}, {}, where_));
      else
        given.push_back(accumulator_apply_gradient(to, label_, one.gradient,
                                                   {.contributor = replica_}, {}, where_));
    }
    auto later = g_.after(given, where_);
    auto on = first_ps();
    next_ = replica_clock_await(clock, label_, "next", where_);
    if (!rests_.empty())
      train_ = keep_rests(next_.node);
  }

  // sync, the chief: takes the mean of the first gradients, and moves the variables. All are taken
  // before any is applied: a step that fails until then has moved nothing.
  void take() {
    label_ = make_number("label");
    auto clock = make_clock();
    operand required = how_.workers - how_.backups;
    if (how_.elastic)
      required = chief_.required = make_number("required", dtype::i32);
    struct taken {
      edge values, indices;
    };
    std::vector<taken> means;
    std::vector<node*> takes, labels, clears;
    for (const auto& one : gradients_) {
      auto from = accumulator_of(one);
      auto on = g_.on(one.variable.node->device(), where_);
      labels.push_back(accumulator_set_global_step(from, label_, {}, where_));
      clears.push_back(accumulator_clear(from, {}, where_));
      if (slices_of(one.gradient)) {
        auto rows =
            sparse_accumulator_take_gradient(from, required, one.variable.type(), {}, where_);
        means.push_back({rows.values, rows.indices});
      } else {
        means.push_back(
            {accumulator_take_gradient(from, required, one.variable.type(), {}, where_), {}});
      }
      takes.push_back(means.back().values.node);
    }
    std::vector<variable_gradient> mean;
    {
      auto later = g_.after(takes, where_);
      for (size_t i = 0; i < means.size(); ++i) {
        const auto& variable = gradients_[i].variable;
        auto on = g_.on(variable.node->device(), where_);
        auto values = identity(means[i].values, {}, where_);
        if (means[i].indices)
          values = unsorted_segment_sum(values, identity(means[i].indices, {}, where_),
                                        variable.dims().extents()[0], {}, where_);
        mean.push_back({variable, values});
      }
    }
    auto* counted = apply(mean);
    chief_.set_labels = g_.group(labels, "set_labels", where_);
    chief_.clear = g_.group(clears, "clear", where_);
    auto on = first_ps();
    chief_.open = replica_clock_set(clock, label_, "open", where_);
    chief_.opened = replica_clock_read(clock, "opened", where_);
    auto later = g_.after({counted}, where_);
    chief_.apply = replica_clock_set(clock, label_, "apply", where_);
  }

  // async and bounded: the variables follow at once. The chief has the slots of the optimizer, too.
  void follow() {
    train_ = apply(gradients_);
    auto* applied = train_;
    if (!rests_.empty())
      train_ = keep_rests(applied);
    if (how_.mode != replica_mode::bounded || is_chief_)
      return;
    auto clock = make_clock();
    auto later = g_.after({applied}, where_);
    auto on = first_ps();
    next_ = replica_clock_tick(clock, int64_t{replica_}, how_.max_lead, "next", where_);
  }

  void serve() {
    if (how_.mode != replica_mode::bounded)
      return;
    auto clock = make_clock();
    chief_.replica = make_number("replica");
    auto on = first_ps();
    chief_.join = replica_clock_join(clock, chief_.replica, "join", where_);
    chief_.leave = replica_clock_leave(clock, chief_.replica, "leave", where_);
  }

  node* apply(const std::vector<variable_gradient>& gradients) {
    auto by = how_.make_optimizer(counter_);
    if (!by)
      reject(function_name, where_, "replicas_options::make_optimizer made none");
    auto changed = how_.change ? how_.change(gradients) : gradients;
    auto on = first_ps();
    auto* applied = by->apply_gradients(changed, where_);
    return count_steps(applied, counter_, where_);
  }

  const replicas_options& how_;
  const int replica_;
  const bool is_chief_;
  const location where_;
  std::unique_ptr<graph_builder> graph_;
  graph_builder& g_;
  replica_step ends_;
  std::vector<variable_handle> variables_; // of the model
  std::vector<variable_gradient> gradients_;
  variable_handle counter_;
  edge label_, next_;
  node *train_ = nullptr, *probe_ = nullptr, *prepare_ = nullptr;
  chief_graph chief_;
  struct kept_rest {
    variable_handle now, next;
  };
  std::vector<kept_rest> rests_; // of gradients of which parts are sent
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

replicas::replicas(const builder& model, replicas_options options, location where)
    : state_(std::make_shared<state>()) {
  check(options, where);
  auto& mine = *state_;
  mine.options = std::move(options);
  if (mine.options.mode == replica_mode::all_reduce) {
    mine.build_copies = [&mine, model, where](int workers) {
      return std::make_shared<replica_copies>(model, mine.options, workers, where);
    };
    auto first = mine.build_copies(mine.options.workers);
    mine.chief.ends = first->ends(0);
    mine.chief.global_step = first->counter(0);
    mine.copies.push_back(std::move(first));
    return;
  }
  auto chief = std::make_shared<graph_maker>(mine.options, 0, true, where);
  chief->build(model);
  mine.build = [&mine, model, chief, where](int number) {
    graph_maker one{mine.options, number, false, where};
    one.build(model);
    one.check_like(*chief);
    return std::move(one).replica();
  };
  for (int i = 0; i < mine.options.workers; ++i)
    mine.workers.emplace(i, mine.build(i));
  mine.chief = std::move(*chief).chief();
  if (mine.options.checkpoints.empty())
    return;
  auto keep = mine.options.keep;
  keep.on_warning = [&mine](const std::string& text) { mine.warn_of_saving(text); };
  keep.exact_streams = false; // replicas compute beside the chief's steps
  mine.saves.emplace(*mine.chief.graph, mine.options.checkpoints, keep, where);
}

replicas::~replicas() = default;

std::string replicas::state::newest() const {
  checkpoint_folder of{real_files(), options.checkpoints};
  auto latest = of.latest();
  return latest ? of.path_of(*latest) : "";
}

void replicas::state::tell_differences(const restore_report& report) {
  for (auto& text : differences_in(report))
    tell({.what = replica_event::kind::warning, .step = report.step, .text = std::move(text)});
}

// A disk that is full, say, does not keep replicas from training: each save tries again, and tells.
void replicas::state::lock_folder(location where) {
  if (!make_folder_durably(real_files(), options.checkpoints))
    return;
  auto taken = saver_access::lock_folder(options.checkpoints, options.keep, function_name,
                                         "saver_options::take_over", where);
  if (taken)
    lock = *std::move(taken);
  else if (taken.status().kind() == error_kind::already_exists)
    throw error{status{taken.status()}.within(concat("replicas (", to_string(where), ')'))};
}

replicas_report replicas::state::run(session& in, location where) {
  struct lock_of_run {
    state& run;
    ~lock_of_run() {
      if (run.saves) {
        saver_access::watch(*run.saves, {});
        saver_access::use_lock(*run.saves, nullptr);
      }
      for (const auto& copies : run.copies)
        copies->let_go_of_folder();
      run.lock.reset();
    }
  } held{*this};
  if (!options.checkpoints.empty()) {
    lock_folder(where);
    if (saves)
      saver_access::use_lock(*saves, lock);
  }
  if (options.mode == replica_mode::all_reduce)
    return copies_loop{shared_from_this(), in, where}.run();
  return loop{shared_from_this(), in, where}.run();
}

replicas_report replicas::run(session& in, location where) { return state_->run(in, where); }

void replicas::request_stop() noexcept {
  std::lock_guard guard{state_->mutex};
  state_->asked = true;
  state_->changed.notify_all();
}

graph_builder& replicas::graph() noexcept {
  std::lock_guard guard{state_->mutex};
  return state_->copies.empty() ? *state_->chief.graph : state_->copies.front()->graph();
}
const replica_step& replicas::chief() const noexcept { return state_->chief.ends; }
edge replicas::global_step() const noexcept { return state_->chief.global_step; }

graph_builder& replicas::graph_of(int replica) {
  std::lock_guard guard{state_->mutex};
  if (!state_->copies.empty()) {
    auto& last = *state_->copies.back();
    if (replica < 0 || static_cast<size_t>(replica) >= last.devices().size())
      throw error{invalid("there is no replica ", replica, " of ", last.devices().size())};
    return last.graph();
  }
  auto it = state_->workers.find(replica);
  if (it == state_->workers.end())
    throw error{invalid("there is no replica ", replica, " of ", state_->workers.size())};
  return *it->second.graph;
}

} // namespace troupe
