#include "tests/simulate/ledger.hpp"

#include "tests/simulate/device.hpp"
#include "troupe/api/library.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <cstdlib>

namespace troupe::simulate {
namespace {

result<shapes> infer_tally(const infer_context& at) { return shapes{at.input(1)}; }

status tally(kernel_context& at) {
  TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(1).dims()));
  auto value = *at.input(1).data<int64_t>();
  *out->data<int64_t>() = value;
  auto& on = dynamic_cast<simulated_device&>(at.device());
  ledger::current->executed(
      on.process, on.incarnation, static_cast<uint64_t>(*at.input(0).data<int64_t>()),
      at.origin().attr<int64_t>("slot"), at.origin().attr<int64_t>("event"), value);
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
  constexpr std::string_view names[] = {"update", "train", "read", "init", "put", "take"};
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
  runs_.push_back(std::move(what));
  return runs_.back();
}

void ledger::executed(size_t process, uint64_t incarnation, uint64_t number, int64_t slot,
                      int64_t event, int64_t value) {
  if (number == 0 || number > runs_.size())
    return core_.violated("no step runs that no client asked for", "run ", number);
  auto& run = at(number);
  core_.tell(concat("process ", process), "executes", to_string(run.kind), ' ', number, " slot ",
             slot);
  if (!run.executed.insert(slot).second)
    return core_.violated("a step runs once at most", to_string(run.kind), ' ', number,
                          " has run its slot ", slot, " twice");
  if (event == took && !taken_.insert(value).second)
    return core_.violated("an element is dequeued once at most", "element ", value,
                          " came again in run ", number);
  if (event != took)
    cells_[{run.client, process, incarnation}].push_back({event, number, core_.now});
}

void ledger::succeeded(run_record& run) {
  run.succeeded = true;
  if (run.executed.size() != static_cast<size_t>(run.slots))
    core_.violated("a step that was acknowledged has run completely", to_string(run.kind), ' ',
                   run.number, " has run ", run.executed.size(), " of ", run.slots, " slots");
}

void ledger::read(const run_record& run, int64_t value, uint64_t incarnation) {
  if (incarnation != run.incarnation)
    return; // the server has been restarted meanwhile: which one was it?
  auto it = cells_.find({run.client, static_cast<size_t>(run.server), incarnation});
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

void ledger::dequeued(const run_record& by, int64_t element) {
  auto known = element > 0 && static_cast<uint64_t>(element) <= runs_.size() &&
               at(static_cast<uint64_t>(element)).kind == run_kind::put;
  if (!known || at(static_cast<uint64_t>(element)).server != by.server)
    return core_.violated("a queue invents nothing", "run ", by.number, " got ", element);
  if (!dequeued_.insert(element).second)
    core_.violated("an element is dequeued once at most", "run ", by.number, " got ", element,
                   ", which somebody had got before");
}

void ledger::drained(int server, uint64_t incarnation, std::optional<uint64_t> came_to_steps) {
  uint64_t example = 0;
  for (const auto& one : runs_)
    if (one.kind == run_kind::put && one.server == server && one.incarnation == incarnation &&
        one.succeeded && !taken_.contains(static_cast<int64_t>(one.number))) {
      ++missing_;
      example = one.number;
    }
  // A step that has failed may have taken an element with it, before its Tally has run.
  if (came_to_steps && missing_ > *came_to_steps - taken_.size())
    core_.violated("no element is lost but with its step or task", missing_,
                   " are missing, such as ", example, ", and steps have lost ",
                   *came_to_steps - taken_.size());
}

uint64_t ledger::count(run_kind kind, bool succeeded) const {
  return static_cast<uint64_t>(std::ranges::count_if(runs_, [&](const auto& one) {
    return one.kind == kind && one.is_answered && one.succeeded == succeeded;
  }));
}

} // namespace troupe::simulate
