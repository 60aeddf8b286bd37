// How a run gives variables their first values where another program may do so as well.
#pragma once
#include "troupe/api/filled_elsewhere.hpp"
#include "troupe/api/session.hpp"

#include <source_location>

namespace troupe {

/// Of a run that begins, and is tried again until that succeeds.
class first_fill {
public:
  /// Calls `act` within session::fill.
  template <class Act>
  void run(session& in, const std::source_location& where, const Act& act) {
    auto acted = false;
    auto fill = [&](session&) {
      act();
      acted = true;
    };
    try {
      in.fill(fill, where);
      follows_ = true; // others run steps from now on
    } catch (const filled_elsewhere&) {
      follows_ = true;
      throw;
    } catch (const error&) {
      follows_ |= acted; // it may have been told, and others may have run steps since
      throw;
    }
  }

  /// Whether all may have its first values already, from another program or from this one.
  bool follows() const noexcept { return follows_; }
  /// Within `act`, after it has used what is to be filled: but nobody has ended that.
  bool is_unended(const session& in) const noexcept { return follows_ && in.is_filling(); }

private:
  bool follows_ = false;
};

} // namespace troupe
