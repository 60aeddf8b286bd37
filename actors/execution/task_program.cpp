#include "troupe/actors/execution/task_program.hpp"

#include "troupe/actors/execution/frames.hpp"
#include "troupe/actors/execution/region.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/platform/thread_number.hpp"

#include <algorithm>
#include <thread>

namespace troupe {
namespace {

// Graphs may come from peers: each step has room for so many.
constexpr size_t max_fetches = 65'536;

} // namespace

task_program::task_program(caf::actor_system& system,
                           std::vector<std::shared_ptr<const program>> programs,
                           std::vector<std::shared_ptr<device>> devices,
                           std::shared_ptr<flight_recorder> recorder)
    : system_(system), devices_(std::move(devices)), recorder_(std::move(recorder)),
      programs_(std::move(programs)) {
  for (const auto& one : devices_)
    if (auto* launches = one->as_accelerator();
        launches && std::ranges::find(accelerators_, launches) == accelerators_.end())
      accelerators_.push_back(launches);
  for (auto& shard : pool_)
    shard.idle.reserve(8); // steps that move to another core take no memory for it
  for (const auto& one : programs_) {
    regions_ += one->regions().size();
    for (auto index : one->fetches()) {
      fetch_indexes_.push_back(index);
      fetches_ = std::max(fetches_, size_t{index} + 1);
    }
  }
}

task_program::~task_program() {
  for (auto& shard : pool_)
    for (auto& one : shard.idle)
      one.instance->retire();
}

status task_program::look_at_state(uint64_t retirements) const {
  for (const auto& one : programs_)
    TROUPE_TRY(one->check_state());
  for (const auto& [number, one] : frames_)
    for (const auto& function : one.functions)
      if (function)
        TROUPE_TRY(function->look_at_state(retirements));
  for (const auto& one : kept_)
    if (one->retired())
      return failure(error_kind::aborted, one->kind(), " '", one->name(),
                     "' was reset and is declared otherwise since: prepare the step again");
  seen_retirements_.store(retirements, std::memory_order_relaxed);
  return {};
}

inline_actor* task_program::add_responder(const caf::actor& one) {
  auto* added = static_cast<inline_actor*>(caf::actor_cast<caf::abstract_actor*>(one));
  if (std::ranges::find(distinct_responders_, added) == distinct_responders_.end()) {
    distinct_responders_.push_back(added);
    responder_handles_.push_back(one);
  }
  return added;
}

status task_program::link(const task_name& self, const std::vector<device_name>& devices,
                          const responder_finder& find_responder) {
  if (fetches_ > max_fetches)
    return invalid("a fetch has index ", fetches_ - 1, ", at most ", max_fetches - 1,
                   " are allowed");
  task_ = to_string(self);
  for (const auto& one : devices)
    device_names_.push_back(to_string(one));
  std::map<std::pair<uint32_t, std::string>, import_route> receives; // by key and device
  for (uint32_t p = 0; p < programs_.size(); ++p) {
    auto& responders = responders_.emplace_back();
    auto& sources = sources_.emplace_back();
    for (const auto& wait : programs_[p]->waits()) {
      responders.emplace_back();
      sources.emplace_back();
      if (wait.by == answered_by::state || wait.by == answered_by::work) {
        TROUPE_ASSIGN(auto actor, find_responder(wait.state ? *wait.state : *wait.origin));
        responders.back() = add_responder(actor);
        if (wait.source) {
          TROUPE_ASSIGN(sources.back(), find_responder(*wait.source));
          add_responder(sources.back());
        }
        takes_things_ |= wait.origin->op().goes_back;
        continue;
      }
      if (wait.by == answered_by::group || wait.by == answered_by::frame)
        continue;
      import_route route{p, wait.region, wait.slots.empty() ? token::no_slot : wait.slots[0],
                         static_cast<uint32_t>(&wait - programs_[p]->waits().data())};
      if (wait.by == answered_by::caller) {
        auto index = static_cast<size_t>(wait.origin->attr<int64_t>("index"));
        if (index >= max_fetches)
          return invalid(wait.origin->description(), ": is argument ", index, ", at most ",
                         max_fetches - 1, " are allowed");
        arguments_.resize(std::max(arguments_.size(), index + 1));
        arguments_[index] = route;
        continue;
      }
      auto key = static_cast<uint32_t>(wait.origin->attr<int64_t>("key"));
      receives[{key, to_string(devices[p])}] = route;
      auto from = device_name::parse(wait.origin->attr<std::string>("from"));
      if (from && from->on_task() != self) {
        partners_.emplace(to_string(from->on_task()), 0);
        senders_.insert(to_string(from->on_task()));
        if (!imports_.emplace(key, route).second)
          return invalid("two receives have the key ", key);
      }
    }
  }
  for (const auto& one : programs_) {
    auto& routes = exports_.emplace_back();
    for (const auto& out : one->exports()) {
      TROUPE_ASSIGN(auto to, device_name::parse(out.to));
      if (to.on_task() == self) {
        auto it = receives.find({out.key, out.to});
        if (it == receives.end())
          return invalid(out.origin->description(), ": nobody on ", out.to, " receives key ",
                         out.key);
        routes.push_back({.program = it->second.program,
                          .region = it->second.region,
                          .slot = it->second.slot,
                          .wait = it->second.wait,
                          .key = out.key});
        continue;
      }
      auto peer = std::ranges::find(peers_, to.on_task());
      if (peer == peers_.end())
        peer = peers_.insert(peers_.end(), to.on_task());
      partners_.emplace(to_string(to.on_task()), 0);
      routes.push_back(
          {.remote = true, .peer = static_cast<size_t>(peer - peers_.begin()), .key = out.key});
    }
  }
  for (const auto& one : programs_)
    seats_.emplace_back(one->waits().size());
  TROUPE_ASSIGN(collectives_, find_collectives(programs_, devices));
  for (uint32_t g = 0; g < collectives_.size(); ++g)
    for (uint32_t m = 0; m < collectives_[g].members.size(); ++m) {
      const auto& one = collectives_[g].members[m];
      seats_[one.program][one.wait] = {g, m};
    }
  return {};
}

// What its functions ask and whom they send to, its steps do.
status task_program::add(task_frame one) {
  auto number = one.number;
  if (frames_.contains(number))
    return invalid("two frames have the number ", number);
  auto note_peer = [&](const task_name& task) {
    if (std::ranges::find(peers_, task) == peers_.end())
      peers_.push_back(task);
    partners_.emplace(to_string(task), 0);
  };
  for (const auto& task : one.others)
    note_peer(task);
  for (const auto& function : one.functions) {
    if (!function)
      continue;
    for (const auto& task : function->peers_)
      note_peer(task);
    partners_.insert(function->partners_.begin(), function->partners_.end());
    senders_.insert(function->senders_.begin(), function->senders_.end());
    for (const auto& responder : function->responder_handles_)
      add_responder(responder);
    takes_things_ |= function->takes_things_;
    for (auto* each : function->accelerators_)
      if (std::ranges::find(accelerators_, each) == accelerators_.end())
        accelerators_.push_back(each);
  }
  auto next = std::max(numbers_, static_cast<uint32_t>(programs_.size()));
  for (const auto& function : one.functions)
    if (function) {
      function->first_number_ = next;
      next += static_cast<uint32_t>(function->programs_.size());
    }
  numbers_ = next;
  frames_.emplace(number, std::move(one));
  return {};
}

task_program::numbered task_program::program_of(uint32_t number) const noexcept {
  if (number < programs_.size())
    return {this, nullptr, number};
  for (const auto& [which, frame] : frames_)
    for (const auto& function : frame.functions)
      if (function && number >= function->first_number_ &&
          number - function->first_number_ < function->programs_.size())
        return {function.get(), &frame, number - function->first_number_};
  return {};
}

const task_frame* task_program::frame(uint32_t number) const noexcept {
  auto it = frames_.find(number);
  return it == frames_.end() ? nullptr : &it->second;
}

void task_program::set_exchanges(std::vector<caf::actor> exchanges) {
  exchanges_ = std::move(exchanges);
  auto with = [&](const task_name& task) {
    auto at = std::ranges::find(peers_, task) - peers_.begin();
    return exchanges_[static_cast<size_t>(at)];
  };
  for (auto& [number, one] : frames_) {
    one.exchanges.clear();
    for (const auto& task : one.others)
      one.exchanges.push_back(with(task));
    for (const auto& function : one.functions) {
      if (!function)
        continue;
      function->exchanges_.clear();
      for (const auto& task : function->peers_)
        function->exchanges_.push_back(with(task));
    }
  }
}

void task_program::expect(const std::vector<known_peer>& peers) {
  for (const auto& one : peers)
    if (auto it = partners_.find(one.task); it != partners_.end())
      it->second = one.incarnation;
}

uint64_t task_program::expected(const task_name& task) const {
  auto it = partners_.find(to_string(task));
  return it == partners_.end() ? 0 : it->second;
}

bool task_program::exchanges_with(const std::string& task, uint64_t incarnation) const noexcept {
  auto it = partners_.find(task);
  return it != partners_.end() &&
         (it->second == incarnation || it->second == 0 || incarnation == 0);
}

// Calls `use` on shards that nobody else uses now, beginning with the core's own, until one
// satisfies it.
template <class Use>
bool task_program::use_a_shard(Use use) {
  const size_t own = core_number();
  for (size_t i = 0; i < pool_shards; ++i) {
    auto& shard = pool_[(own + i) % pool_shards];
    if (shard.busy.test_and_set(std::memory_order_acquire))
      continue;
    auto satisfied = use(shard.idle);
    shard.busy.clear(std::memory_order_release);
    if (satisfied)
      return true;
  }
  return false;
}

template <class Use>
void task_program::use_all_shards(Use use) const {
  for (auto& shard : pool_) {
    while (shard.busy.test_and_set(std::memory_order_acquire))
      std::this_thread::yield(); // for the few instructions that the others need
    use(shard.idle);
    shard.busy.clear(std::memory_order_release);
  }
}

std::shared_ptr<task_instance> task_program::check_out() {
  std::shared_ptr<task_instance> taken;
  auto found = use_a_shard([&](auto& idle) {
    if (idle.empty())
      return false;
    taken = std::move(idle.back().instance);
    idle.pop_back();
    return true;
  });
  if (!found) {
    taken = std::make_shared<task_instance>(*this);
    taken->populate();
  }
  return taken;
}

void task_program::check_in(std::shared_ptr<task_instance> idle) {
  idle->reset();
  if (idle->watched())
    idle->watch({});
  auto since = shrinks_.load(std::memory_order_relaxed);
  auto put = use_a_shard([&](auto& shard) {
    shard.push_back({std::move(idle), since});
    return true;
  });
  if (!put) // all are in use at this moment
    idle->retire();
}

void task_program::shrink() {
  auto last = shrinks_.fetch_add(1, std::memory_order_relaxed);
  std::vector<pooled> gone;
  use_all_shards([&](auto& idle) {
    auto fresh = std::ranges::find_if(idle, [&](const auto& one) { return one.since >= last; });
    gone.insert(gone.end(), std::move_iterator{idle.begin()}, std::move_iterator{fresh});
    idle.erase(idle.begin(), fresh);
  });
  for (auto& one : gone)
    one.instance->retire();
  for (const auto& [number, one] : frames_)
    for (const auto& function : one.functions)
      if (function)
        function->shrink();
}

size_t task_program::idle() const {
  size_t count = 0;
  use_all_shards([&](const auto& idle) { count += idle.size(); });
  return count;
}

const import_route* task_program::import(uint32_t key) const noexcept {
  auto it = imports_.find(key);
  return it == imports_.end() ? nullptr : &it->second;
}

std::shared_ptr<const std::vector<span_subject>> task_program::subjects() const {
  std::lock_guard guard{mutex_};
  if (!subjects_) {
    auto made = std::make_shared<std::vector<span_subject>>();
    append_subjects(*made);
    for (const auto& [number, one] : frames_)
      for (const auto& function : one.functions)
        if (function) {
          auto first = made->size();
          function->append_subjects(*made);
          for (auto& subject : std::span{*made}.subspan(first))
            subject.kind = span_kind::inner;
        }
    subjects_ = std::move(made);
  }
  return subjects_;
}

void task_program::append_subjects(std::vector<span_subject>& to) const {
  for (size_t p = 0; p < programs_.size(); ++p)
    step_profiler::append_subjects(*programs_[p], device_names_[p], to);
}

uint32_t task_program::first_subject_of(const task_program& function) const {
  auto own = [](const task_program& of) {
    size_t count = 0;
    for (const auto& one : of.programs_)
      count += step_profiler::subjects_of(*one);
    return count;
  };
  auto first = own(*this);
  for (const auto& [number, one] : frames_)
    for (const auto& each : one.functions) {
      if (each.get() == &function)
        return static_cast<uint32_t>(first);
      first += each ? own(*each) : 0;
    }
  return static_cast<uint32_t>(first);
}

task_instance::task_instance(const task_program& of) : program_(of) {
  if (of.has_frames())
    frames_ = std::make_unique<step_frames>(*this);
  for (const auto& one : of.programs()) {
    parts_.push_back(std::make_unique<instance>(one));
    clues_.push_back({std::make_unique<std::atomic<int64_t>[]>(one->waits().size()),
                      std::make_unique<std::atomic<int64_t>[]>(one->regions().size())});
  }
  for (const auto& one : of.collectives())
    meetings_.push_back(std::make_unique<collective_rendezvous>(one));
}

task_instance::~task_instance() = default;

std::string frame_turn::description() const {
  auto number = turn == none ? "" : concat(" iteration ", std::max<int64_t>(turn, 0));
  return concat('[', of->description, number, ']');
}

std::string task_instance::nest() const {
  if (!place_.of)
    return {};
  auto outside = place_.around ? place_.around->nest() : "";
  return concat(outside, outside.empty() ? "" : " ", place_.description());
}

status task_instance::in_nest(status why) const {
  if (why.kind() == error_kind::deadline_exceeded)
    return why; // it says what all of the step waited for
  for (const auto* at = this; at && at->place_.of; at = at->place_.around.get())
    why = std::move(why).within(at->place_.description());
  return why;
}

// What it makes is the step's that it is a part of.
void task_instance::share_memory() {
  for (const auto& part : parts_)
    part->take_memory_of(root_->frames()->account_on(part->program().device()));
}

status task_instance::receive(arrival&& what, caf::execution_unit* unit) {
  if (what.frame != frame_ || what.iteration != run_) {
    if (frames_ && what.frame != 0)
      return frames_->arrive(std::move(what), unit);
    return invalid("a tensor came for frame ", what.frame, ", iteration ", what.iteration,
                   " of key ", what.key, ", which is in no loop");
  }
  const auto* route = program_.import(what.key);
  if (!route)
    return invalid("a tensor came for the unknown key ", what.key);
  const auto& program = part(route->program).program();
  if (!what.dead && route->slot != token::no_slot)
    if (const auto& from = *program.waits()[route->wait].origin;
        from.output_type(0) != what.value.type() ||
        !from.output_shape(0).compatible(what.value.dims()))
      return invalid(from.description(), ": expected ", from.output_type(0), from.output_shape(0),
                     ", got ", what.value.type(), what.value.dims());
  end_wait(route->program, route->wait, what.value.bytes());
  deliver(region(route->program, route->region),
          token{.region = route->region,
                .slot = what.dead ? token::no_slot : route->slot,
                .value = std::move(what.value),
                .dead = what.dead},
          unit);
  return {};
}

void task_instance::reset() noexcept {
  if (frames_)
    frames_->reset();
  for (auto& one : parts_)
    one->reset();
  for (auto& one : meetings_)
    one->reset();
  place_ = {};
}

void task_instance::populate() {
  auto& system = program_.system();
  std::tie(conductor_handle_, conductor_) = spawn_inline<conductor_actor>(system, *this);
  for (uint32_t p = 0; p < parts_.size(); ++p) {
    auto& regions = regions_.emplace_back();
    for (uint32_t r = 0; r < parts_[p]->program().regions().size(); ++r) {
      auto [handle, region] = spawn_inline<region_actor>(system, shared_from_this(), p, r);
      region_handles_.push_back(std::move(handle));
      regions.push_back(region);
    }
  }
}

void task_instance::begin_step(uint64_t step) noexcept {
  program_.recorder().note(flight_event::step_began, step);
  for (size_t p = 0; p < parts_.size(); ++p) {
    auto waits = parts_[p]->program().waits();
    for (size_t i = 0; i < waits.size(); ++i)
      clues_[p].waits[i].store(is_asked(waits[i]) ? 0 : ticks_now(), std::memory_order_relaxed);
  }
}

void task_instance::begin_wait(uint32_t of_program, uint32_t of_wait) noexcept {
  clues_[of_program].waits[of_wait].store(ticks_now(), std::memory_order_relaxed);
  program_.recorder().note(flight_event::wait_began, conductor_->step(),
                           program_.first_number() + of_program, of_wait);
}

void task_instance::end_wait(uint32_t of_program, uint32_t of_wait, uint64_t bytes) noexcept {
  clues_[of_program].waits[of_wait].store(0, std::memory_order_relaxed);
  program_.recorder().note(flight_event::wait_ended, conductor_->step(),
                           program_.first_number() + of_program, of_wait);
  if (watched())
    watches_[of_program]->end_wait(of_wait, bytes);
}

void task_instance::watch(profile_options what) {
  watching_ = what;
  watched_since_ = steady_ns();
  if (what.any() && watches_.empty())
    for (const auto& one : program_.programs())
      watches_.push_back(std::make_unique<step_profiler>(*one));
  for (size_t p = 0; p < parts_.size(); ++p) {
    if (what.any())
      watches_[p]->begin(what);
    parts_[p]->watch(what.any() ? watches_[p].get() : nullptr);
  }
}

void task_instance::collect(task_statistics& found) const {
  found.spans.clear();
  found.memory.clear();
  if (!watching_.times)
    return;
  found.task = program_.task();
  found.begin_ns = watched_since_;
  collect_spans(found);
  if (frames_)
    frames_->add_times(found);
  for (size_t p = 0; p < parts_.size(); ++p) {
    memory_timeline memory{.device = program_.name_of_device(p)};
    parts_[p]->collect_memory(memory);
    if (!memory.bytes.empty())
      found.memory.push_back(std::move(memory));
  }
  if (!std::ranges::is_sorted(found.spans, {}, &step_span::begin_ns))
    std::ranges::stable_sort(found.spans, {}, &step_span::begin_ns);
  auto held = memory();
  found.allocated_bytes = held.allocated;
  found.peak_bytes = held.peak;
  found.end_ns = steady_ns();
}

void task_instance::collect_spans(task_statistics& to) const {
  to.subjects = program_.subjects();
  uint32_t first = 0;
  for (size_t p = 0; p < parts_.size(); ++p) {
    watches_[p]->collect(first, to);
    first += static_cast<uint32_t>(step_profiler::subjects_of(*program_.programs()[p]));
  }
}

step_memory_statistics task_instance::memory() const noexcept {
  step_memory_statistics all;
  for (const auto& part : parts_) {
    auto one = part->memory();
    all.in_use += one.in_use;
    all.peak += one.peak;
    all.allocated += one.allocated;
    all.allocations += one.allocations;
  }
  if (frames_)
    frames_->add_memory(all);
  return all;
}

std::string task_instance::describe_largest_tensors() const {
  std::vector<held_tensor> held;
  for (const auto& part : parts_)
    part->list_tensors(held);
  return describe_largest(std::move(held), 10,
                          place_.of ? "the turn's largest tensors" : "the step's largest tensors");
}

void task_instance::retire() {
  auto keep = shared_from_this();
  kept_ = program_.weak_from_this().lock(); // nothing where the program itself goes
  region_handles_.clear();
}

} // namespace troupe
