#include "troupe/runtime/state/element_queue.hpp"

#include "troupe/runtime/types/guarded.hpp"

#include "troupe/runtime/simulation.hpp"
#include "troupe/runtime/state/element_bytes.hpp"
#include "troupe/runtime/state/slices.hpp"

#include <algorithm>

namespace troupe {
namespace {

std::unique_ptr<element_store> store_for(const queue_options& options) {
  switch (options.order) {
    case queue_order::shuffled:
      return std::make_unique<shuffle_store>(options.min_after_dequeue, options.seed);
    case queue_order::by_priority: return std::make_unique<priority_store>();
    case queue_order::fifo: break;
  }
  return std::make_unique<fifo_store>();
}

constexpr std::string_view state_format = "troupe queue 1";

} // namespace

template <class... Ts>
status element_queue::wrong(const Ts&... parts) const {
  return invalid("queue '", name(), "': ", parts...);
}

element_queue::element_queue(queue_options options, allocator& from)
    : responder(options.name), options_(std::move(options)), memory_(&from),
      store_(store_for(options_)) {}

result<std::unique_ptr<element_queue>> element_queue::make(queue_options options, allocator& from) {
  std::unique_ptr<element_queue> made{new element_queue{std::move(options), from}};
  const auto& of = made->options_;
  if (of.types.empty())
    return made->wrong("an element needs at least one component");
  if (!of.shapes.empty() && of.shapes.size() != of.types.size())
    return made->wrong("has ", of.types.size(), " component types, but ", of.shapes.size(),
                       " shapes");
  if (of.pads && (of.shapes.empty() ||
                  !std::ranges::all_of(of.shapes, [](auto& one) { return one.has_rank(); })))
    return made->wrong("pads its elements, and needs the rank of each component");
  if (of.order == queue_order::by_priority &&
      (of.types.front() != dtype::i64 ||
       (!of.shapes.empty() && !of.shapes.front().compatible(shape{}))))
    return made->wrong("the first component must be an i64 scalar, the priority");
  if (of.min_after_dequeue < 0)
    return made->wrong("min_after_dequeue must not be negative, got ", of.min_after_dequeue);
  if (of.capacity >= 0 && of.min_after_dequeue > 0 && of.min_after_dequeue >= of.capacity)
    return made->wrong("min_after_dequeue (", of.min_after_dequeue,
                       ") must be less than the capacity (", of.capacity, ")");
  return made;
}

status element_queue::closed_error() const {
  return failure(error_kind::cancelled, "queue '", name(), "' is closed");
}

status element_queue::suspended_error() const {
  return failure(error_kind::cancelled, "queue '", name(), "' is suspended while it is saved");
}

status element_queue::check(const element& given, bool many) const {
  const auto& types = options_.types;
  if (given.size() != types.size())
    return wrong("takes ", types.size(), " components, got ", given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const auto& one = given[i];
    if (one.type() != types[i])
      return wrong("component ", i, " must be ", types[i], ", got ", one.type());
    if (many && one.rank() == 0)
      return wrong("component ", i, " of a batch must have a first axis, got shape ", one.dims());
    if (many && one.dims()[0] != given[0].dims()[0])
      return wrong("component ", i, " has ", one.dims()[0], " elements, component 0 has ",
                   given[0].dims()[0]);
    auto dims = many ? without_first_axis(one.dims()) : one.dims();
    if (i == 0 && options_.order == queue_order::by_priority && dims.rank() != 0)
      return wrong("component 0, the priority, must be a scalar, got ", dims);
    if (!options_.shapes.empty() && !options_.shapes[i].compatible(dims))
      return wrong("component ", i, " must have shape ", options_.shapes[i], ", got ", dims);
  }
  return {};
}

void element_queue::add(pending_enqueue what, answers& done) {
  auto fits = check(what.tensors, what.many);
  if (fits && what.many) {
    what.count = what.tensors[0].dims()[0];
    if (what.count == 0) { // waits for nothing, not even for its turn
      done.push_back({what.who, {}});
      return;
    }
  }
  if (fits && closed_)
    fits = closed_error();
  if (!fits) {
    done.push_back({what.who, std::move(fits)});
    return;
  }
  if (!what.many && enqueues_.empty() && has_room()) { // as admit() does, without a copy
    store_->put({next_number_++, std::move(what.tensors)});
    done.push_back({what.who, {}});
  } else {
    enqueues_.push_back(std::move(what));
  }
  settle_lines(done);
}

void element_queue::enqueue(request_id who, element what, answers& done) {
  add({.who = who, .tensors = std::move(what)}, done);
}

void element_queue::enqueue_many(request_id who, element batch, answers& done) {
  add({.who = who, .tensors = std::move(batch), .many = true}, done);
}

void element_queue::dequeue(request_id who, taking how, answers& done) {
  if (how.count < 0) {
    done.push_back({who, wrong("cannot take out ", how.count, " elements")});
  } else if (how.count == 0) {
    auto nothing = join({});
    if (nothing)
      done.push_back({who, {}, *std::move(nothing)});
    else
      done.push_back({who, nothing.status()});
  } else {
    dequeues_.push_back({who, how});
    settle_lines(done);
  }
}

void element_queue::close(bool cancel_pending, answers& done) {
  closed_ = true;
  if (cancel_pending)
    give_up(enqueues_, which_requests::all(), closed_error(), done);
  settle_lines(done);
}

void element_queue::reset(const status& why, answers& done) {
  auto all = which_requests::all();
  give_up(enqueues_, all, why, done);
  give_up(dequeues_, all, why, done);
  store_->clear();
  taken_.clear();
  closed_ = suspended_ = false;
}

void element_queue::suspend(bool suspended, answers& done) {
  suspended_ = suspended;
  settle_lines(done);
}

result<std::string> element_queue::state() const {
  auto all = store_->all();
  for (const auto& [step, taken] : taken_)
    all.insert(all.end(), taken.begin(), taken.end());
  // A shuffled queue's random numbers mean places.
  if (options_.order != queue_order::shuffled)
    std::ranges::sort(all, {}, &numbered_element::number);
  element_writer to;
  to.add(state_format);
  to.add(uint64_t{closed_});
  to.add(store_->position());
  to.add(uint64_t{all.size()});
  for (const auto& one : all)
    for (const auto& component : one.tensors)
      TROUPE_TRY(to.add(component).within(concat("queue '", name(), "'")));
  return to.take();
}

status element_queue::restore(std::string_view state, answers& done) {
  element_reader from{state};
  auto format = from.text();
  auto closed = from.number(), position = from.number(), count = from.number();
  // An element takes a byte at least.
  if (!format || *format != state_format || !closed || !position || !count || *count > from.left())
    return wrong(state.size(), " bytes are not the state of a queue");
  std::vector<element> all;
  for (uint64_t i = 0; i < *count; ++i) {
    element next;
    for (size_t component = 0; component < options_.types.size(); ++component) {
      auto value = from.read(*memory_);
      if (!value)
        return value.status().within(concat("queue '", name(), "'"));
      next.push_back(*std::move(value));
    }
    TROUPE_TRY(check(next, false));
    all.push_back(std::move(next));
  }
  if (from.left() != 0)
    return wrong("its state has ", from.left(), " bytes too many");
  // What waits to be put in is so before it: it is dropped with all else that was in.
  for (const auto& one : enqueues_)
    done.push_back({one.who, {}});
  enqueues_.clear();
  store_->clear();
  taken_.clear();
  for (auto& one : all)
    store_->put({next_number_++, std::move(one)});
  store_->go_on_from(*position);
  closed_ = *closed != 0;
  suspended_ = false;
  settle_lines(done);
  return {};
}

void element_queue::cancel(const which_requests& which, const status& why, answers& done) {
  give_up(enqueues_, which, why, done);
  give_up(dequeues_, which, why, done);
  settle_lines(done);
}

void element_queue::settle(step_id step, bool failed, answers& done) {
  auto all = taken_.extract(step);
  if (all.empty() || !failed)
    return;
  TROUPE_REACHED("what a dequeue gave goes back");
  for (auto& one : all.mapped())
    store_->put(std::move(one));
  settle_lines(done);
}

int64_t element_queue::available() const noexcept {
  return std::max<int64_t>(0, size() - (closed_ ? 0 : store_->reserve()));
}

// A batch larger than the capacity could never be complete; it lifts the limit while it is next.
bool element_queue::has_room() const noexcept {
  if (suspended_ || options_.capacity < 0 || size() < options_.capacity)
    return true;
  // The reserve is less than the capacity.
  return !dequeues_.empty() && size() - store_->reserve() < dequeues_.front().how.count;
}

bool element_queue::admit(answers& done) {
  if (enqueues_.empty() || !has_room())
    return false;
  auto& first = enqueues_.front();
  auto next = slice(first);
  if (next)
    store_->put({next_number_++, *std::move(next)});
  if (next && ++first.next < first.count)
    return true;
  done.push_back({first.who, next.status()});
  enqueues_.pop_front();
  return true;
}

bool element_queue::serve(answers& done) {
  if (dequeues_.empty())
    return false;
  auto [who, how] = dequeues_.front();
  if (suspended_) {
    done.push_back({who, suspended_error()});
    dequeues_.pop_front();
    return true;
  }
  auto count = how.count;
  if (available() < count) {
    if (!closed_ || !enqueues_.empty())
      return false;
    if (how.up_to)
      count = size();
    if (!how.up_to || count == 0) {
      done.push_back({who, failure(error_kind::out_of_range, "queue '", name(),
                                   "' is closed and has too few elements (wanted ", how.count,
                                   ", has ", size(), ")")});
      dequeues_.pop_front();
      return true;
    }
  }
  dequeues_.pop_front();
  elements all;
  for (int64_t i = 0; i < count; ++i)
    all.push_back(store_->take());
  // What does not fit into memory goes back.
  auto outcome = guarded("taking elements out", [&]() -> result<element> {
    if (how.many)
      return join(all);
    auto& one = all.front().tensors;
    return how.goes_back ? one : std::move(one);
  });
  if (!outcome) {
    for (auto& one : all)
      store_->put(std::move(one));
    done.push_back({who, outcome.status()});
    return true;
  }
  if (how.goes_back) {
    auto& kept = taken_[who.step];
    kept.insert(kept.end(), std::move_iterator{all.begin()}, std::move_iterator{all.end()});
  }
  all.clear();
  done.push_back({who, {}, *std::move(outcome)});
  return true;
}

void element_queue::settle_lines(answers& done) {
  while (admit(done) || serve(done)) {
  }
}

result<element> element_queue::slice(const pending_enqueue& from) const {
  if (!from.many)
    return from.tensors;
  element made;
  for (const auto& batch : from.tensors) {
    auto one = slice_of(batch, from.next, *memory_);
    if (!one)
      return one.status().within(concat("queue '", name(), "'"));
    made.push_back(*std::move(one));
  }
  return made;
}

result<element> element_queue::join(const elements& all) const {
  element joined;
  std::vector<const tensor*> parts(all.size());
  for (size_t i = 0; i < options_.types.size(); ++i) {
    std::ranges::transform(all, parts.begin(), [i](auto& one) { return &one.tensors[i]; });
    auto batch = stack(parts,
                       {.type = options_.types[i],
                        .dims = options_.shapes.empty() ? partial_shape{} : options_.shapes[i],
                        .pads = options_.pads},
                       *memory_);
    if (!batch)
      return batch.status().within(concat("queue '", name(), "': component ", i));
    joined.push_back(*std::move(batch));
  }
  return joined;
}

status element_queue::declare_again(const responder& other) const {
  auto described = [](const queue_options& of) {
    constexpr std::string_view orders[] = {"", ", shuffled", ", by priority"};
    auto text = concat(describe_components(of.types, of.shapes), " of capacity ", of.capacity,
                       orders[static_cast<size_t>(of.order)], of.pads ? ", padded" : "");
    if (of.order == queue_order::shuffled)
      text += concat(", min_after_dequeue ", of.min_after_dequeue,
                     of.declared_seed ? concat(", seed ", of.seed) : "");
    return text;
  };
  // Shapes may say more or less: whoever takes an element looks at what it gets.
  auto fit = [](const std::vector<partial_shape>& a, const std::vector<partial_shape>& b) {
    return a.empty() || b.empty() ||
           std::ranges::equal(a, b, [](auto& x, auto& y) { return x.compatible(y); });
  };
  const auto& again = static_cast<const element_queue&>(other).options_;
  const auto& mine = options_;
  auto seeds = !mine.declared_seed || !again.declared_seed || mine.seed == again.seed;
  if (again.capacity != mine.capacity || again.types != mine.types || again.order != mine.order ||
      again.pads != mine.pads || again.min_after_dequeue != mine.min_after_dequeue || !seeds ||
      !fit(again.shapes, mine.shapes))
    return invalid("queue '", name(), "' exists as ", described(mine),
                   ", and is declared again as ", described(again));
  return {};
}

std::string element_queue::describe() const {
  auto text =
      concat(size(), options_.capacity < 0 ? "" : concat(" of ", options_.capacity), " elements");
  if (!taken_.empty())
    text += concat(", ", taken_.size(), " steps have taken some");
  if (!enqueues_.empty())
    text += concat(", ", enqueues_.size(), " enqueues wait");
  if (!dequeues_.empty())
    text += concat(", ", dequeues_.size(), " dequeues wait");
  return text + (closed_ ? ", closed" : "") + (suspended_ ? ", suspended" : "");
}

std::string element_queue::holds() const {
  return describe_components(options_.types, options_.shapes);
}

uint64_t element_queue::bytes() const { return store_->bytes(); }

} // namespace troupe
