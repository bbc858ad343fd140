// gyre/coro/nested_frames.hpp: destroys frames that own each other through their arguments, at any depth.
// For authors of coroutine types.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/context.hpp>

namespace gyre {

/// Destroys a frame that does not run, and that no task awaits. Its arguments may own further frames, which are
/// destroyed inside this call: depth first, as members of an object are. Below 100 levels a frame is destroyed after
/// the frame that owns it instead, so that a chain of any length needs a limited stack. There an argument must not
/// refer to another argument of its owner, nor to a local of a destructor.
GYRE_API void destroy_nested(frame_base& frame) noexcept;

}  // namespace gyre
