#include "troupe/runtime/state/barrier.hpp"

#include "troupe/runtime/types/guarded.hpp"

#include "troupe/runtime/state/slices.hpp"

#include <algorithm>

namespace troupe {

template <class... Ts>
status barrier::wrong(const Ts&... parts) const {
  return invalid("barrier '", name(), "': ", parts...);
}

barrier::barrier(barrier_options options, allocator& from)
    : responder(options.name), options_(std::move(options)), memory_(&from) {}

result<std::unique_ptr<barrier>> barrier::make(barrier_options options, allocator& from) {
  std::unique_ptr<barrier> made{new barrier{std::move(options), from}};
  const auto& of = made->options_;
  if (of.types.empty())
    return made->wrong("an element needs at least one component");
  if (!of.shapes.empty() && of.shapes.size() != of.types.size())
    return made->wrong("has ", of.types.size(), " component types, but ", of.shapes.size(),
                       " shapes");
  return made;
}

status barrier::check(const tensor& keys, const tensor& values, int64_t component) const {
  if (component < 0 || component >= static_cast<int64_t>(options_.types.size()))
    return wrong("component_index must be 0 to ", options_.types.size() - 1, ", got ", component);
  auto at = static_cast<size_t>(component);
  if (keys.type() != dtype::string || keys.rank() != 1)
    return wrong("keys must be a vector of strings, got ", keys);
  if (values.type() != options_.types[at])
    return wrong("component ", component, " must be ", options_.types[at], ", got ", values.type());
  if (values.rank() < 1 || values.dims()[0] != keys.elements())
    return wrong("has ", keys.elements(), " keys for values of shape ", values.dims());
  if (!options_.shapes.empty() &&
      !options_.shapes[at].compatible(without_first_axis(values.dims())))
    return wrong("component ", component, " must have shape ", options_.shapes[at], ", got ",
                 without_first_axis(values.dims()));
  return {};
}

void barrier::insert_many(request_id who, const tensor& keys, tensor values, int64_t component,
                          answers& done) {
  if (auto fits = check(keys, values, component); !fits) {
    done.push_back({who, std::move(fits)});
    return;
  }
  inserts_.push_back({who, keys, std::move(values), static_cast<size_t>(component)});
  settle_lines(done);
}

status barrier::insert(const pending_insert& what) {
  auto keys = what.keys.values<std::string>();
  if (cancelled_)
    return failure(error_kind::cancelled, "barrier '", name(), "' is closed");
  // First all that may fail.
  std::vector<tensor> slices;
  std::vector<std::string> sorted{keys.begin(), keys.end()};
  std::ranges::sort(sorted);
  if (auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    return wrong("key '", *twice, "' stands twice in one insertion of component ", what.component);
  for (size_t i = 0; i < keys.size(); ++i) {
    auto it = incomplete_.find(keys[i]);
    if (it == incomplete_.end() && closed_)
      return failure(error_kind::cancelled, "barrier '", name(), "' is closed, and key '", keys[i],
                     "' is new");
    if (it != incomplete_.end() && !it->second.components[what.component].empty())
      return wrong("key '", keys[i], "' has a value for component ", what.component, " already");
    TROUPE_ASSIGN(auto slice, slice_of(what.values, static_cast<int64_t>(i), *memory_));
    slices.push_back(std::move(slice));
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    auto [it, fresh] = incomplete_.try_emplace(keys[i]);
    auto& one = it->second;
    if (fresh) {
      one = {.number = next_number_++,
             .insertion = next_insertion_,
             .key = keys[i],
             .components = {},
             .missing = options_.types.size()};
      one.components.resize(options_.types.size());
    }
    one.components[what.component] = std::move(slices[i]);
    if (--one.missing > 0)
      continue;
    auto number = one.number;
    ready_.emplace(number, std::move(one));
    incomplete_.erase(it);
  }
  ++next_insertion_;
  return {};
}

bool barrier::has_room() const noexcept {
  auto wanted = takes_.empty() ? 0 : takes_.front().how.count;
  return options_.capacity < 0 || ready() < std::max(options_.capacity, wanted);
}

bool barrier::admit(answers& done) {
  if (inserts_.empty() || !(has_room() || cancelled_))
    return false;
  auto first = std::move(inserts_.front());
  inserts_.pop_front();
  done.push_back({first.who, insert(first)});
  return true;
}

result<std::vector<tensor>> barrier::join(const std::vector<entry>& all) const {
  auto count = static_cast<int64_t>(all.size());
  TROUPE_ASSIGN(auto insertions, tensor::make(dtype::i64, shape{count}, *memory_));
  TROUPE_ASSIGN(auto keys, tensor::make(dtype::string, shape{count}, *memory_));
  for (size_t i = 0; i < all.size(); ++i) {
    insertions.data<int64_t>()[i] = all[i].insertion;
    keys.data<std::string>()[i] = all[i].key;
  }
  std::vector<tensor> made{std::move(insertions), std::move(keys)};
  std::vector<const tensor*> parts(all.size());
  for (size_t c = 0; c < options_.types.size(); ++c) {
    std::ranges::transform(all, parts.begin(), [c](auto& one) { return &one.components[c]; });
    auto batch = stack(parts,
                       {.type = options_.types[c],
                        .dims = options_.shapes.empty() ? partial_shape{} : options_.shapes[c]},
                       *memory_);
    if (!batch)
      return batch.status().within(concat("barrier '", name(), "': component ", c));
    made.push_back(*std::move(batch));
  }
  return made;
}

void barrier::take_many(request_id who, taking how, answers& done) {
  if (how.count < 0) {
    done.push_back({who, wrong("cannot take out ", how.count, " elements")});
    return;
  }
  if (how.count == 0) {
    auto nothing = join({});
    done.push_back({who, nothing.status(), nothing ? *nothing : std::vector<tensor>{}});
    return;
  }
  takes_.push_back({who, how});
  settle_lines(done);
}

bool barrier::serve(answers& done) {
  if (takes_.empty())
    return false;
  auto [who, how] = takes_.front();
  auto count = how.count;
  if (ready() < count) {
    if (!no_more())
      return false;
    count = how.small_batch ? ready() : 0;
    if (count == 0) {
      done.push_back({who, failure(error_kind::out_of_range, "barrier '", name(),
                                   "' is closed and has too few elements (wanted ", how.count,
                                   ", has ", ready(), ")")});
      takes_.pop_front();
      return true;
    }
  }
  takes_.pop_front();
  std::vector<entry> all;
  for (auto it = ready_.begin(); count > 0; --count, it = ready_.erase(it))
    all.push_back(std::move(it->second));
  auto outcome = guarded("taking elements out", [&] { return join(all); });
  if (!outcome)
    for (auto& one : all)
      ready_.emplace(one.number, std::move(one));
  else if (how.goes_back)
    taken_[who.step].insert(taken_[who.step].end(), std::move_iterator{all.begin()},
                            std::move_iterator{all.end()});
  done.push_back({who, outcome.status(), outcome ? *std::move(outcome) : std::vector<tensor>{}});
  return true;
}

void barrier::settle_lines(answers& done) {
  while (admit(done) || serve(done)) {
  }
}

void barrier::close(bool cancel_pending, answers& done) {
  closed_ = true;
  cancelled_ |= cancel_pending;
  if (cancelled_)
    incomplete_.clear();
  settle_lines(done);
}

status barrier::declare_again(const responder& other) const {
  const auto& again = static_cast<const barrier&>(other).options_;
  auto fit = options_.shapes.empty() || again.shapes.empty() ||
             std::ranges::equal(options_.shapes, again.shapes,
                                [](auto& x, auto& y) { return x.compatible(y); });
  if (again.types != options_.types || again.capacity != options_.capacity || !fit)
    return invalid("barrier '", name(), "' exists with other components or another capacity (",
                   options_.types.size(), " components, ", options_.capacity,
                   "), and is declared again (", again.types.size(), ", ", again.capacity, ")");
  return {};
}

void barrier::cancel(const which_requests& which, const status& why, answers& done) {
  give_up(inserts_, which, why, done);
  give_up(takes_, which, why, done);
  settle_lines(done);
}

void barrier::settle(step_id step, bool failed, answers& done) {
  auto all = taken_.extract(step);
  if (all.empty() || !failed)
    return;
  for (auto& one : all.mapped())
    ready_.emplace(one.number, std::move(one));
  settle_lines(done);
}

void barrier::reset(const status& why, answers& done) {
  auto all = which_requests::all();
  give_up(inserts_, all, why, done);
  give_up(takes_, all, why, done);
  incomplete_.clear();
  ready_.clear();
  taken_.clear();
  next_number_ = 0;
  next_insertion_ = first_insertion;
  closed_ = cancelled_ = false;
}

std::string barrier::describe() const {
  auto text = concat(ready(), " complete elements, ", incomplete(), " incomplete");
  if (!inserts_.empty())
    text += concat(", ", inserts_.size(), " inserts wait");
  if (!takes_.empty())
    text += concat(", ", takes_.size(), " takes wait");
  return text + (closed_ ? ", closed" : "");
}

std::string barrier::holds() const { return describe_components(options_.types, options_.shapes); }

uint64_t barrier::bytes() const {
  uint64_t all = 0;
  for (const auto& [key, one] : incomplete_)
    all += bytes_of(one.components);
  for (const auto& [number, one] : ready_)
    all += bytes_of(one.components);
  return all;
}

} // namespace troupe
