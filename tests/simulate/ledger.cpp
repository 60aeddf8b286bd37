#include "tests/simulate/ledger.hpp"

#include "tests/simulate/device.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <cstdlib>

namespace troupe::simulate {
namespace {

result<shapes> infer_tally(const infer_context& at) { return shapes{at.input(1)}; }

status tally(kernel_context& at) {
  TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(1).dims()));
  std::span values{at.input(1).data<int64_t>(), static_cast<size_t>(at.input(1).elements())};
  std::ranges::copy(values, out->data<int64_t>());
  auto& on = dynamic_cast<simulated_device&>(at.device());
  ledger::current->executed(
      on.process, on.incarnation, static_cast<uint64_t>(*at.input(0).data<int64_t>()),
      at.origin().attr<int64_t>("slot"), at.origin().attr<int64_t>("event"), values);
  return {};
}

constexpr op_def tally_op{
    .name = "Tally",
    .doc = "Records in the simulation's ledger that a run has reached this node.",
    .inputs = {{"run", "i64"}, {"value", "i64"}},
    .outputs = {{"same", "i64"}},
    .attrs = {{"slot", 0}, {"event", 0}},
    .effects = effect::stateful,
    .infer = infer_tally,
    .no_gradient = "it is for simulations",
};

constexpr kernel_def tally_kernel{.op = "Tally", .run = {{dtype::none, tally}}};

} // namespace

ledger* ledger::current = nullptr;

std::string_view to_string(run_kind kind) {
  constexpr std::string_view names[] = {"update",  "train",    "read",  "init",    "reduce",
                                        "put",     "take",     "apply", "collect", "hold",
                                        "put_own", "take_own", "shut",  "program", "training"};
  return names[static_cast<size_t>(kind)];
}

const registry& ledger::ops() {
  static const registry ops = [] {
    auto extended = library();
    if (!extended.add(tally_op) || !extended.add(tally_kernel))
      std::abort();
    return extended;
  }();
  return ops;
}

run_record& ledger::begin(run_record record) {
  record.number = runs_.size() + 1;
  record.met = met_[{record.client, record.session}];
  runs_.push_back(std::move(record));
  return runs_.back();
}

void ledger::started(size_t process, uint64_t incarnation) {
  starts_[{process, incarnation}] = last_start_ = ++order_;
}

void ledger::executed(size_t process, uint64_t incarnation, uint64_t number, int64_t slot,
                      int64_t event, std::span<const int64_t> values) {
  if (process == interpreter) {
    ++interpreted_[slot];
    return;
  }
  if (number == 0 || number > runs_.size())
    return core_.violated("every step that runs was requested by a client", "run ", number);
  auto& run = at(number);
  core_.tell(concat("process ", process), "executes", to_string(run.kind), ' ', number, " slot ",
             slot);
  if (auto times = ++run.executed[slot]; times > most_of(run, slot))
    return core_.violated("a step runs at most once", to_string(run.kind), ' ', number,
                          " has run its slot ", slot, ' ', times, " times");
  if (!run.ran_on.emplace(process, incarnation).second && run.ran_on[process] != incarnation)
    return core_.violated("a step runs on one incarnation of a task", to_string(run.kind), ' ',
                          number, " has run on two of process ", process);
  place location{process, incarnation};
  switch (event) {
    case took: takings_[location].push_back({values[0], number, core_.now}); break;
    case collected: gatherings_[location].push_back({values[0], values[1]}); break;
    case enter:
      run.entered = ++order_;
      entries_[location].push_back(number);
      break;
    case leave: run.left = ++order_; break;
    case gathered_all:
      run.taken.assign(values.begin(), values.end());
      training_.open.insert(number);
      break;
    case updated: check_update(run, location, values); break;
    case came: break;
    default: cells_[{run.client, process, incarnation}].push_back({event, number, core_.now});
  }
}

// The maximum number of runs of a slot. A program whose state may be lost has no limit.
int64_t ledger::most_of(const run_record& run, int64_t slot) const {
  if (run.kind != run_kind::program)
    return 1;
  if (last_start_ > run.state_since || core_.settings.splits || core_.settings.joined)
    return INT64_MAX;
  auto expected_runs = run.expected.find(slot);
  return expected_runs == run.expected.end() ? 0 : expected_runs->second;
}

bool ledger::is_complete(const run_record& run) const {
  if (run.kind != run_kind::program)
    return run.executed.size() == static_cast<size_t>(run.slots);
  return run.executed == run.expected;
}

void ledger::succeeded(run_record& run) {
  run.succeeded = true;
  if (!is_complete(run))
    return core_.violated("a step that succeeded has run completely", to_string(run.kind), ' ',
                          run.number, " has run ", run.executed.size(), " of ", run.slots,
                          " slots");
  auto& met = met_[{run.client, run.session}];
  for (const auto& [process, incarnation] : run.ran_on) {
    auto since = starts_[{process, incarnation}];
    if (auto newest_met = run.met.find(process);
        newest_met != run.met.end() && newest_met->second > since)
      core_.violated("a session that has used a task's successor does not use the former process",
                     to_string(run.kind), ' ', run.number,
                     " has run on an old incarnation of process ", process);
    met[process] = std::max(met[process], since);
    // A task that cannot reach the holder passes its lock to another step, and the holder fails.
    if (run.kind == run_kind::hold && static_cast<int>(process) == run.server)
      for (auto other_run : entries_[{process, incarnation}])
        if (at(other_run).entered > run.entered && at(other_run).entered < run.left)
          core_.violated("one step at a time holds a lock", "run ", other_run,
                         " has entered while run ", run.number, " held it");
  }
}

void ledger::read(const run_record& run, int64_t value) {
  auto server = static_cast<size_t>(run.server);
  auto history = cells_.find({run.client, server, run.ran_on.at(server)});
  if (history == cells_.end())
    return core_.violated("a variable that was never initialized has no value", "run ", run.number,
                          " has read ", value);
  const auto& events = history->second;
  // Updates that an initialization may have erased are not certain. An initialization that has
  // started and not ended may still be in progress.
  size_t from = 0, possible = 0;
  std::set<uint64_t> open;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == init_begin)
      open.insert(events[i].run);
    if (events[i].kind == init_begin || !open.empty())
      from = i + 1;
    if (events[i].kind == init_end) {
      open.erase(events[i].run);
      from = i + 1;
      if (events[i].when < run.issued)
        for (size_t begin = 0; begin < i; ++begin)
          if (events[begin].kind == init_begin && events[begin].run == events[i].run)
            possible = begin;
    }
  }
  int64_t min_value = 0, max_value = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind != add)
      continue;
    const auto& updater = at(events[i].run);
    min_value += i >= from && open.empty() && updater.succeeded && updater.answered < run.issued;
    max_value += i >= possible;
  }
  if (value < min_value || value > max_value)
    core_.violated("an acknowledged update has run once, any other at most once", "run ",
                   run.number, " has read ", value, ", possible are ", min_value, " to ",
                   max_value);
}

// -- elements ------------------------------------------------------------------------------------

// A task may have consumed a step's element while its answer was lost with a connection: then the
// step has failed.
bool ledger::is_in_doubt(const run_record& run) const {
  if (run.succeeded || !run.is_answered)
    return !run.succeeded;
  // With slow readers, the notice that the element was consumed may arrive after all waits have
  // ended.
  if (run.reported_doubt && core_.settings.slow_readers)
    return true;
  auto around =
      2 * std::chrono::milliseconds{core_.settings.peer_timeout_ms} + std::chrono::seconds{5};
  return core_.had_fault({fault_kind::loss, fault_kind::partition, fault_kind::pause,
                          fault_kind::crash, fault_kind::reopen, fault_kind::split,
                          fault_kind::buggify},
                         run.processes, run.answered - around, run.answered + around);
}

void ledger::dequeued(const run_record& taker, int64_t element) {
  auto is_own_queue = taker.kind == run_kind::take_own;
  auto is_put =
      element > 0 && static_cast<uint64_t>(element) <= runs_.size() &&
      at(static_cast<uint64_t>(element)).kind == (is_own_queue ? run_kind::put_own : run_kind::put);
  if (!is_put || at(static_cast<uint64_t>(element)).server != taker.server ||
      (is_own_queue && at(static_cast<uint64_t>(element)).client != taker.client))
    return core_.violated("a dequeued element was enqueued", "run ", taker.number, " got ",
                          element);
  auto [first, is_new] = dequeued_.emplace(element, taker.number);
  if (!is_new)
    core_.violated("an element is delivered once", "run ", taker.number, " got ", element,
                   ", which run ", first->second, " had got before");
}

void ledger::drained(int server, uint64_t incarnation, size_t may_stay, bool in_order) {
  place location{static_cast<size_t>(server), incarnation};
  std::set<int64_t> spent;
  for (const auto& take : takings_[location])
    if (at(take.run).succeeded || is_in_doubt(at(take.run)))
      spent.insert(take.element);
  size_t missing = 0;
  uint64_t example = 0;
  for (const auto& put : runs_)
    if (auto where = put.ran_on.find(location.first);
        put.kind == run_kind::put && put.succeeded && where != put.ran_on.end() &&
        where->second == incarnation && !spent.contains(static_cast<int64_t>(put.number))) {
      ++missing;
      example = put.number;
    }
  if (missing > may_stay)
    return core_.violated("no element is lost", missing, " are missing, such as ", example);
  if (in_order)
    for (const auto& [take_location, takes] : takings_)
      if (take_location.first == location.first)
        check_order(take_location);
}

// Whether a step may have held an element when another element that was put later was taken.
bool ledger::may_have_taken(const place& location, int64_t element, const taking& before) const {
  auto takes = takings_.find(location);
  for (const auto& take : takes->second)
    if (take.element == element && runs_[take.run - 1].issued <= before.when)
      return true;
  // The element of a step that failed in transit is unknown, and so is the time of its return.
  auto late =
      2 * std::chrono::milliseconds{core_.settings.peer_timeout_ms} + std::chrono::seconds{5};
  return std::ranges::any_of(runs_, [&](const run_record& run) {
    return run.kind == run_kind::take && static_cast<size_t>(run.server) == location.first &&
           !run.succeeded && run.issued <= before.when &&
           (!run.is_answered || run.answered + late > runs_[before.run - 1].issued);
  });
}

void ledger::check_order(const place& location) const {
  std::vector<const run_record*> puts;
  for (const auto& run : runs_)
    if (auto where = run.ran_on.find(location.first);
        run.kind == run_kind::put && where != run.ran_on.end() && where->second == location.second)
      puts.push_back(&run);
  for (const auto& taken : takings_.at(location)) {
    const auto& element = runs_.at(static_cast<size_t>(taken.element) - 1);
    for (const auto* earlier : puts)
      if (earlier->succeeded && earlier->answered < element.issued &&
          !may_have_taken(location, static_cast<int64_t>(earlier->number), taken))
        return core_.violated("a queue returns elements in insertion order", "element ",
                              taken.element, " came to run ", taken.run, " before element ",
                              earlier->number);
  }
}

void ledger::gathered(int server, uint64_t incarnation) {
  place location{static_cast<size_t>(server), incarnation};
  int64_t min_count = 0, max_count = 0, least_sum = 0, most_sum = 0, count = 0, sum = 0;
  bool some_lost = false; // a failed step's gradients are not returned
  for (const auto& run : runs_) {
    some_lost |= run.kind == run_kind::collect && run.server == server && !run.succeeded &&
                 run.executed.empty();
    auto where = run.ran_on.find(location.first);
    if (run.kind != run_kind::apply || where == run.ran_on.end() || where->second != incarnation)
      continue;
    auto number = static_cast<int64_t>(run.number);
    max_count += 1;
    most_sum += number;
    min_count += run.succeeded;
    least_sum += run.succeeded ? number : 0;
  }
  for (const auto& gathering : gatherings_[location]) {
    count += gathering.count;
    sum += gathering.sum;
  }
  if (count > max_count || sum > most_sum)
    core_.violated("an accumulator adds up each gradient once", count, " gradients came, sum ", sum,
                   ", at most ", max_count, ", sum ", most_sum);
  else if (!some_lost && (count < min_count || sum < least_sum))
    core_.violated("an accumulator loses no gradient", count, " gradients came, sum ", sum,
                   ", at least ", min_count, ", sum ", least_sum);
}

// -- training ------------------------------------------------------------------------------------

// The gradients of an update belong to one step, later than all previous ones, at most one per
// replica. Each gradient is in one update: dropped gradients do not count, and none counts twice.
void ledger::check_update(const run_record& chief, const place& location,
                          std::span<const int64_t> taken) {
  int64_t count = 0, label = -1;
  auto violate = [&](const auto&... details) {
    core_.violated("an update has gradients of its step, one of each replica", "run ", chief.number,
                   ' ', details...);
  };
  for (size_t i = 0; i < taken.size(); ++i) {
    if (taken[i] == 0)
      continue;
    ++count;
    if (taken[i] < 0 || static_cast<size_t>(taken[i]) > runs_.size() ||
        at(static_cast<uint64_t>(taken[i])).replica != static_cast<int64_t>(i))
      return violate("has ", taken[i], " of replica ", i, ", which is no gradient of it");
    const auto& from = at(static_cast<uint64_t>(taken[i]));
    if (label >= 0 && from.label != label)
      return violate("has gradients of steps ", label, " and ", from.label);
    label = from.label;
    if (!trained_by_.emplace(location, taken[i]).second)
      return violate("has the gradient of run ", taken[i], ", as one before");
  }
  if (count < chief.min_gradients)
    return violate("has ", count, " gradients, fewer than ", chief.min_gradients);
  auto [latest, first] = latest_label_.emplace(location, label);
  if (!first && latest->second >= label)
    return violate("has gradients of step ", label, " after those of step ", latest->second);
  latest->second = label;
}

void ledger::doubt_training() { training_.doubted = core_.now; }

void ledger::began_training(const run_record& initializer) {
  training_.value.assign(static_cast<size_t>(core_.settings.replicas), 0);
  training_.incarnation = initializer.ran_on.at(static_cast<size_t>(initializer.server));
}

void ledger::trained(const run_record& chief, const tensor& variable) {
  const auto* values = variable.data<int64_t>();
  std::vector<int64_t> now(values, values + variable.elements());
  auto incarnation = chief.ran_on.at(static_cast<size_t>(chief.server));
  auto previous = std::exchange(training_.value, now);
  training_.open.erase(chief.number);
  auto long_enough =
      2 * std::chrono::milliseconds{core_.settings.peer_timeout_ms} + std::chrono::seconds{10};
  auto doubted = training_.doubted != time_point{} && core_.now < training_.doubted + long_enough;
  if (std::exchange(training_.incarnation, incarnation) != incarnation || previous.empty() ||
      doubted || core_.had_fault({fault_kind::split}, {chief.server}, {}, core_.now))
    return;
  for (size_t i = 0; i < now.size(); ++i)
    now[i] -= previous[i] + chief.taken[i];
  // The uncertain updates that explain the difference: each may be included, but only completely.
  std::set<std::vector<int64_t>> explained{std::vector<int64_t>(now.size(), 0)};
  for (auto number : training_.open) {
    const auto& taken = at(number).taken;
    std::vector<std::vector<int64_t>> longer_sums;
    for (auto sum : explained) {
      for (size_t i = 0; i < sum.size(); ++i)
        sum[i] += taken[i];
      longer_sums.push_back(std::move(sum));
    }
    explained.insert(longer_sums.begin(), longer_sums.end());
    if (explained.size() > 4096)
      return;
  }
  if (!explained.contains(now))
    core_.violated("a variable is the sum of the gradients of updates", "run ", chief.number,
                   " has left another");
  if (std::ranges::any_of(now, [](int64_t part) { return part != 0; }))
    training_.open.clear(); // some of them are included; only the sum shows which
}

bool ledger::was_shut(int client, int server) const {
  return std::ranges::any_of(runs_, [&](const run_record& run) {
    return run.kind == run_kind::shut && run.client == client && run.server == server;
  });
}

} // namespace troupe::simulate
