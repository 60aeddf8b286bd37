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
    .doc = "Tells the simulation's ledger that a run has come so far.",
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
  static const registry all = [] {
    auto made = library();
    if (!made.add(tally_op) || !made.add(tally_kernel))
      std::abort();
    return made;
  }();
  return all;
}

run_record& ledger::begin(run_record what) {
  what.number = runs_.size() + 1;
  what.met = met_[{what.client, what.session}];
  runs_.push_back(std::move(what));
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
    return core_.violated("no step runs that no client asked for", "run ", number);
  auto& run = at(number);
  core_.tell(concat("process ", process), "executes", to_string(run.kind), ' ', number, " slot ",
             slot);
  if (auto times = ++run.executed[slot]; times > most_of(run, slot))
    return core_.violated("a step runs once at most", to_string(run.kind), ' ', number,
                          " has run its slot ", slot, ' ', times, " times");
  if (!run.ran_on.emplace(process, incarnation).second && run.ran_on[process] != incarnation)
    return core_.violated("a step runs on one incarnation of a task", to_string(run.kind), ' ',
                          number, " has run on two of process ", process);
  place here{process, incarnation};
  switch (event) {
    case took: takings_[here].push_back({values[0], number, core_.now}); break;
    case collected: gatherings_[here].push_back({values[0], values[1]}); break;
    case enter:
      run.entered = ++order_;
      entries_[here].push_back(number);
      break;
    case leave: run.left = ++order_; break;
    case gathered_all:
      run.taken.assign(values.begin(), values.end());
      training_.open.insert(number);
      break;
    case updated: check_update(run, here, values); break;
    case came: break;
    default: cells_[{run.client, process, incarnation}].push_back({event, number, core_.now});
  }
}

// How often a slot may run. A program whose state may be lost does what nobody knows.
int64_t ledger::most_of(const run_record& run, int64_t slot) const {
  if (run.kind != run_kind::program)
    return 1;
  if (last_start_ > run.state_since || core_.with.splits || core_.with.joined)
    return INT64_MAX;
  auto it = run.wanted.find(slot);
  return it == run.wanted.end() ? 0 : it->second;
}

bool ledger::is_complete(const run_record& run) const {
  if (run.kind != run_kind::program)
    return run.executed.size() == static_cast<size_t>(run.slots);
  return run.executed == run.wanted;
}

void ledger::succeeded(run_record& run) {
  run.succeeded = true;
  if (!is_complete(run))
    return core_.violated("a step that was acknowledged has run completely", to_string(run.kind),
                          ' ', run.number, " has run ", run.executed.size(), " of ", run.slots,
                          " slots");
  auto& met = met_[{run.client, run.session}];
  for (const auto& [process, incarnation] : run.ran_on) {
    auto since = starts_[{process, incarnation}];
    if (auto known = run.met.find(process); known != run.met.end() && known->second > since)
      core_.violated("who has met a task's successor does not go back", to_string(run.kind), ' ',
                     run.number, " has run on an old incarnation of process ", process);
    met[process] = std::max(met[process], since);
    // A task that cannot hear of the holder gives its lock to another, and the holder fails.
    if (run.kind == run_kind::hold && static_cast<int>(process) == run.server)
      for (auto other : entries_[{process, incarnation}])
        if (at(other).entered > run.entered && at(other).entered < run.left)
          core_.violated("one step at a time holds a lock", "run ", other,
                         " has entered while run ", run.number, " held it");
  }
}

void ledger::read(const run_record& run, int64_t value) {
  auto server = static_cast<size_t>(run.server);
  auto it = cells_.find({run.client, server, run.ran_on.at(server)});
  if (it == cells_.end())
    return core_.violated("a variable that was never initialised has no value", "run ", run.number,
                          " has read ", value);
  const auto& events = it->second;
  // Updates that an initialisation may have wiped count for nothing certain. One that has begun and
  // not ended may still be under way.
  size_t from = 0, possible = 0;
  std::set<uint64_t> open;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].what == init_begin)
      open.insert(events[i].run);
    if (events[i].what == init_begin || !open.empty())
      from = i + 1;
    if (events[i].what == init_end) {
      open.erase(events[i].run);
      from = i + 1;
      if (events[i].when < run.issued)
        for (size_t begin = 0; begin < i; ++begin)
          if (events[begin].what == init_begin && events[begin].run == events[i].run)
            possible = begin;
    }
  }
  int64_t least = 0, most = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].what != add)
      continue;
    const auto& by = at(events[i].run);
    least += i >= from && open.empty() && by.succeeded && by.answered < run.issued;
    most += i >= possible;
  }
  if (value < least || value > most)
    core_.violated("an acknowledged update has happened once, another once at most", "run ",
                   run.number, " has read ", value, ", possible are ", least, " to ", most);
}

// -- elements ------------------------------------------------------------------------------------

// A task may have spent what a step took, and its answer may be lost with a connection: the step
// has failed then.
bool ledger::is_in_doubt(const run_record& run) const {
  if (run.succeeded || !run.is_answered)
    return !run.succeeded;
  // Where readers are slow, the news that it is spent may come later than anyone waits for it.
  if (run.told_doubt && core_.with.slow_readers)
    return true;
  auto around = 2 * std::chrono::milliseconds{core_.with.peer_timeout_ms} + std::chrono::seconds{5};
  return core_.had_fault({fault_kind::loss, fault_kind::partition, fault_kind::pause,
                          fault_kind::crash, fault_kind::reopen, fault_kind::split,
                          fault_kind::buggify},
                         run.processes, run.answered - around, run.answered + around);
}

void ledger::dequeued(const run_record& by, int64_t element) {
  auto own = by.kind == run_kind::take_own;
  auto known = element > 0 && static_cast<uint64_t>(element) <= runs_.size() &&
               at(static_cast<uint64_t>(element)).kind == (own ? run_kind::put_own : run_kind::put);
  if (!known || at(static_cast<uint64_t>(element)).server != by.server ||
      (own && at(static_cast<uint64_t>(element)).client != by.client))
    return core_.violated("a queue invents nothing", "run ", by.number, " got ", element);
  auto [first, is_new] = dequeued_.emplace(element, by.number);
  if (!is_new)
    core_.violated("an element is spent once", "run ", by.number, " got ", element, ", which run ",
                   first->second, " had got before");
}

void ledger::drained(int server, uint64_t incarnation, size_t may_stay, bool in_order) {
  place here{static_cast<size_t>(server), incarnation};
  std::set<int64_t> spent;
  for (const auto& one : takings_[here])
    if (at(one.run).succeeded || is_in_doubt(at(one.run)))
      spent.insert(one.element);
  size_t missing = 0;
  uint64_t example = 0;
  for (const auto& one : runs_)
    if (auto where = one.ran_on.find(here.first);
        one.kind == run_kind::put && one.succeeded && where != one.ran_on.end() &&
        where->second == incarnation && !spent.contains(static_cast<int64_t>(one.number))) {
      ++missing;
      example = one.number;
    }
  if (missing > may_stay)
    return core_.violated("no element is lost", missing, " are missing, such as ", example);
  if (in_order)
    for (const auto& [at, all] : takings_)
      if (at.first == here.first)
        check_order(at);
}

// Whether an element may have been with a step when another came out that had come after it.
bool ledger::may_have_taken(const place& here, int64_t element, const taking& before) const {
  auto all = takings_.find(here);
  for (const auto& one : all->second)
    if (one.element == element && runs_[one.run - 1].issued <= before.when)
      return true;
  // Of one that failed on its way nobody knows what it had, or when that was given back.
  auto late = 2 * std::chrono::milliseconds{core_.with.peer_timeout_ms} + std::chrono::seconds{5};
  return std::ranges::any_of(runs_, [&](const run_record& one) {
    return one.kind == run_kind::take && static_cast<size_t>(one.server) == here.first &&
           !one.succeeded && one.issued <= before.when &&
           (!one.is_answered || one.answered + late > runs_[before.run - 1].issued);
  });
}

void ledger::check_order(const place& here) const {
  std::vector<const run_record*> puts;
  for (const auto& one : runs_)
    if (auto where = one.ran_on.find(here.first);
        one.kind == run_kind::put && where != one.ran_on.end() && where->second == here.second)
      puts.push_back(&one);
  for (const auto& taken : takings_.at(here)) {
    const auto& element = runs_.at(static_cast<size_t>(taken.element) - 1);
    for (const auto* earlier : puts)
      if (earlier->succeeded && earlier->answered < element.issued &&
          !may_have_taken(here, static_cast<int64_t>(earlier->number), taken))
        return core_.violated("a queue gives in order", "element ", taken.element, " came to run ",
                              taken.run, " before element ", earlier->number);
  }
}

void ledger::gathered(int server, uint64_t incarnation) {
  place here{static_cast<size_t>(server), incarnation};
  int64_t least = 0, most = 0, least_sum = 0, most_sum = 0, count = 0, sum = 0;
  bool some_lost = false; // what a step took that failed does not come back
  for (const auto& one : runs_) {
    some_lost |= one.kind == run_kind::collect && one.server == server && !one.succeeded &&
                 one.executed.empty();
    auto where = one.ran_on.find(here.first);
    if (one.kind != run_kind::apply || where == one.ran_on.end() || where->second != incarnation)
      continue;
    auto number = static_cast<int64_t>(one.number);
    most += 1;
    most_sum += number;
    least += one.succeeded;
    least_sum += one.succeeded ? number : 0;
  }
  for (const auto& one : gatherings_[here]) {
    count += one.count;
    sum += one.sum;
  }
  if (count > most || sum > most_sum)
    core_.violated("an accumulator adds up each gradient once", count, " gradients came, sum ", sum,
                   ", at most ", most, ", sum ", most_sum);
  else if (!some_lost && (count < least || sum < least_sum))
    core_.violated("an accumulator loses no gradient", count, " gradients came, sum ", sum,
                   ", at least ", least, ", sum ", least_sum);
}

// -- training ------------------------------------------------------------------------------------

// The gradients of an update are of one step, later than all before, one of each replica, and each
// is in one update: none is counted that was dropped, or twice.
void ledger::check_update(const run_record& by, const place& here, std::span<const int64_t> taken) {
  int64_t count = 0, label = -1;
  auto wrong = [&](const auto&... how) {
    core_.violated("an update is of gradients of its step, one of each replica", "run ", by.number,
                   ' ', how...);
  };
  for (size_t i = 0; i < taken.size(); ++i) {
    if (taken[i] == 0)
      continue;
    ++count;
    if (taken[i] < 0 || static_cast<size_t>(taken[i]) > runs_.size() ||
        at(static_cast<uint64_t>(taken[i])).replica != static_cast<int64_t>(i))
      return wrong("has ", taken[i], " of replica ", i, ", which is no gradient of it");
    const auto& from = at(static_cast<uint64_t>(taken[i]));
    if (label >= 0 && from.label != label)
      return wrong("has gradients of steps ", label, " and ", from.label);
    label = from.label;
    if (!trained_by_.emplace(here, taken[i]).second)
      return wrong("has the gradient of run ", taken[i], ", as one before");
  }
  if (count < by.least)
    return wrong("has ", count, " gradients, fewer than ", by.least);
  auto [latest, first] = latest_label_.emplace(here, label);
  if (!first && latest->second >= label)
    return wrong("has gradients of step ", label, " after those of step ", latest->second);
  latest->second = label;
}

void ledger::doubt_training() { training_.doubted = core_.now; }

void ledger::began_training(const run_record& by) {
  training_.value.assign(static_cast<size_t>(core_.with.replicas), 0);
  training_.incarnation = by.ran_on.at(static_cast<size_t>(by.server));
}

void ledger::trained(const run_record& by, const tensor& variable) {
  const auto* values = variable.data<int64_t>();
  std::vector<int64_t> now(values, values + variable.elements());
  auto incarnation = by.ran_on.at(static_cast<size_t>(by.server));
  auto before = std::exchange(training_.value, now);
  training_.open.erase(by.number);
  auto long_enough =
      2 * std::chrono::milliseconds{core_.with.peer_timeout_ms} + std::chrono::seconds{10};
  auto doubted = training_.doubted != time_point{} && core_.now < training_.doubted + long_enough;
  if (std::exchange(training_.incarnation, incarnation) != incarnation || before.empty() ||
      doubted || core_.had_fault({fault_kind::split}, {by.server}, {}, core_.now))
    return;
  for (size_t i = 0; i < now.size(); ++i)
    now[i] -= before[i] + by.taken[i];
  // Which of those in doubt explain the rest, one after the other: each is in it as a whole.
  std::set<std::vector<int64_t>> explained{std::vector<int64_t>(now.size(), 0)};
  for (auto number : training_.open) {
    const auto& taken = at(number).taken;
    std::vector<std::vector<int64_t>> more;
    for (auto sum : explained) {
      for (size_t i = 0; i < sum.size(); ++i)
        sum[i] += taken[i];
      more.push_back(std::move(sum));
    }
    explained.insert(more.begin(), more.end());
    if (explained.size() > 4096)
      return;
  }
  if (!explained.contains(now))
    core_.violated("a variable is the sum of the gradients of updates", "run ", by.number,
                   " has left another");
  if (std::ranges::any_of(now, [](int64_t one) { return one != 0; }))
    training_.open.clear(); // some of them are in it: which, is told by the sum alone
}

bool ledger::was_shut(int client, int server) const {
  return std::ranges::any_of(runs_, [&](const run_record& one) {
    return one.kind == run_kind::shut && one.client == client && one.server == server;
  });
}

} // namespace troupe::simulate
