// Actors without a mailbox: they handle a message on the sender's thread, before the send returns,
// so that a message needs no heap memory. docs/decisions/002 has the rules for them.
#pragma once
#include "troupe/actors/base/caf_internals.hpp"

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/sec.hpp>

#include <typeinfo>
#include <utility>

namespace troupe {

/// Base of inline actors. Several threads call enqueue() at once. A derived class guards its state,
/// holds no lock while it sends, never throws and never blocks.
class inline_actor : public caf::monitorable_actor {
public:
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* unit) final {
    if (!receive(*element, unit) && !handle_system_message(*element, unit, false))
      bounce(element, caf::make_error(caf::sec::unexpected_message));
  }

  void on_destroy() override {
    if (!getf(is_cleaned_up_flag)) {
      cleanup(caf::exit_reason::unreachable, nullptr);
      caf::monitorable_actor::on_destroy();
    }
  }

protected:
  explicit inline_actor(caf::actor_config& config) : caf::monitorable_actor(config) {}

  /// Handles the message. Returns false, and leaves it unchanged, if the actor handles no messages
  /// of its type.
  virtual bool receive(caf::mailbox_element& message, caf::execution_unit* unit) = 0;
};

/// Spawns an inline actor. All handles to it must be released before its system ends.
template <class Actor, class... Args>
std::pair<caf::actor, Actor*> spawn_inline(caf::actor_system& system, Args&&... args) {
  caf::actor_config config;
  auto handle = caf::make_actor<Actor, caf::actor>(system.next_actor_id(), system.node(), &system,
                                                   config, std::forward<Args>(args)...);
  auto* actor = static_cast<Actor*>(caf::actor_cast<caf::abstract_actor*>(handle));
  return {std::move(handle), actor};
}

namespace detail {

/// A message on its sender's stack. CAF's owning pointer calls request_deletion(), which does
/// nothing.
template <class T>
class stack_message final : public caf::mailbox_element,
                            public caf::detail::tuple_vals_impl<caf::type_erased_tuple, T> {
  using tuple = caf::detail::tuple_vals_impl<caf::type_erased_tuple, T>;

public:
  explicit stack_message(T&& content)
      : caf::mailbox_element(nullptr, caf::make_message_id(), {}), tuple(std::move(content)) {}
  caf::type_erased_tuple& content() override { return *this; }
  const caf::type_erased_tuple& content() const override { return *this; }
  caf::message move_content_to_message() override {
    return caf::make_message(std::move(std::get<0>(this->data())));
  }
  caf::message copy_content_to_message() const override {
    return caf::make_message(std::get<0>(this->data()));
  }
  void request_deletion(bool) const noexcept override {}
};

} // namespace detail

/// Sends to an inline actor without heap memory. (Another actor would keep a pointer to a message
/// that is destroyed when this returns.)
template <class T>
void deliver(inline_actor& receiver, T content, caf::execution_unit* unit) {
  detail::stack_message<T> message{std::move(content)};
  receiver.enqueue(caf::mailbox_element_ptr{&message}, unit);
}

/// Returns the only element of the message, or null if that is not a T.
template <class T>
T* content_if(caf::mailbox_element& message) {
  if (typeid(message) == typeid(detail::stack_message<T>)) // the usual case, and cheap to test
    return &std::get<0>(static_cast<detail::stack_message<T>&>(message).data());
  auto& content = message.content();
  return content.match_elements<T>() ? &content.get_mutable_as<T>(0) : nullptr;
}

} // namespace troupe
