! SPDX-License-Identifier: BSD-2-Clause
! The closure: a convolutional network that computes from the coarse flow q the change that the coarse time step S
! lacks. It changes u and v only, so mass is still conserved.
!
!   q[n+1] = S(q[n]) + dt N(q[n]),   N = tendency * network(q)
!
! The network: scaled u, v, h; 3 x 3 convolution to 12 channels, tanh; 3 x 3 convolution to 12 channels, tanh;
! 3 x 3 convolution to 2 channels. All three are periodic.
module water_closure
  use water_grid
  implicit none
  private
  public :: closure_create, closure_destroy, closure_copy, closure_apply, closure_adjoint
  integer, parameter :: hidden = 12, outputs = 2, kernel(2) = [3, 3], padding(2) = [1, 1]
  ! The unit of the network's output, so that its weights are of order 1, and of its input.
  real(real64), parameter :: tendency = 1e-2_real64
  real(real64), parameter :: input_scale(fields) = [4, 4, 8], input_shift(fields) = [0, 0, -8]

  type, public :: closure_t
    type(grid_t) :: grid
    real(real64) :: dt
    type(tenon_layer) :: network
    type(tenon_optimizer) :: optimizer
    type(tenon_dtensor) :: q, output, cotangent, gradient ! placed on the field of the call
    real(real64), allocatable :: work(:, :, :)
  end type closure_t
contains
  ! `depth` evaluations can wait for their adjoints.
  subroutine closure_create(grid, dt, depth, c)
    type(grid_t), intent(in) :: grid
    real(real64), intent(in) :: dt
    integer, intent(in) :: depth
    type(closure_t), intent(out) :: c
    c%grid = grid
    c%dt = dt
    call create_field(grid, c%work)
    call create_network(c, depth)
    call tenon_dtensor_create(grid%plain, TENON_FLOAT64, c%q)
    call tenon_layer_create_output(c%network, 1, c%output)
    call tenon_layer_create_output_cotangent(c%network, 1, c%cotangent)
    call tenon_layer_create_input_cotangent(c%network, 1, c%gradient)
    ! The solver's arrays are on the host, wherever the network runs (-tenon_space device).
    call tenon_dtensor_set_space(c%output, TENON_MEMORY_HOST)
    call tenon_dtensor_set_space(c%cotangent, TENON_MEMORY_HOST)
    call tenon_dtensor_set_space(c%gradient, TENON_MEMORY_HOST)
  end subroutine closure_create

  subroutine create_network(c, depth)
    type(closure_t), intent(inout) :: c
    integer, intent(in) :: depth
    call tenon_layer_create_sequential(c%grid%comm, c%network)
    call add_scaling(c)
    call add_convolution(c, fields, hidden)
    call add_tanh(c)
    call add_convolution(c, hidden, hidden)
    call add_tanh(c)
    call add_convolution(c, hidden, outputs)
    call tenon_layer_set_data_type(c%network, TENON_FLOAT64)
    call tenon_layer_set_stack_depth(c%network, depth)
    call tenon_set_from_options(c%network)
    call tenon_layer_set_up(c%network, c%grid%plain)
    call tenon_layer_initialize(c%network, 1)
    call set_parameter(c, '0/scale', input_scale)
    call set_parameter(c, '0/shift', input_shift)
    call tenon_optimizer_create(c%network, 'adam', c%optimizer)
    call tenon_set_real(c%optimizer, 'beta2', 0.99_real64)
  end subroutine create_network

  ! u, v and h - H in units of their size: a layer whose parameters are not trained.
  subroutine add_scaling(c)
    type(closure_t), intent(inout) :: c
    type(tenon_layer) :: layer
    call tenon_layer_create_type(c%grid%comm, 'channelaffine', layer)
    call tenon_set_integers(layer, 'channels', [fields])
    call tenon_layer_set_frozen(layer, .true.)
    call tenon_layer_sequential_add(c%network, layer)
    call tenon_destroy(layer)
  end subroutine add_scaling

  subroutine add_convolution(c, in, out)
    type(closure_t), intent(inout) :: c
    integer, intent(in) :: in, out
    type(tenon_layer) :: layer
    call tenon_layer_create_conv(c%grid%comm, in, out, kernel, layer)
    call tenon_layer_set_padding(layer, padding)
    call tenon_layer_set_boundary(layer, [TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC])
    call tenon_layer_sequential_add(c%network, layer)
    call tenon_destroy(layer)
  end subroutine add_convolution

  subroutine add_tanh(c)
    type(closure_t), intent(inout) :: c
    type(tenon_layer) :: layer
    call tenon_layer_create_type(c%grid%comm, 'tanh', layer)
    call tenon_layer_sequential_add(c%network, layer)
    call tenon_destroy(layer)
  end subroutine add_tanh

  ! Sets a replicated parameter of one number for each field.
  subroutine set_parameter(c, path, values)
    type(closure_t), intent(in) :: c
    character(len=*), intent(in) :: path
    real(real64), intent(in) :: values(fields)
    type(tenon_dtensor) :: parameter
    real(real64), pointer :: array(:)
    call tenon_layer_get_parameter_at(c%network, path, parameter)
    call tenon_get_array(parameter, array)
    array(1:fields) = values
    call tenon_restore_array(parameter, array)
    call tenon_destroy(parameter)
  end subroutine set_parameter

  subroutine closure_destroy(c)
    type(closure_t), intent(inout) :: c
    call tenon_destroy(c%gradient)
    call tenon_destroy(c%cotangent)
    call tenon_destroy(c%output)
    call tenon_destroy(c%q)
    call tenon_destroy(c%optimizer)
    call tenon_destroy(c%network)
  end subroutine closure_destroy

  ! Copies the weights.
  subroutine closure_copy(from, to)
    type(closure_t), intent(in) :: from
    type(closure_t), intent(inout) :: to
    type(tenon_dtensor) :: source, target
    integer :: count, n
    call tenon_layer_get_parameter_count(from%network, count)
    do n = 1, count
      call tenon_layer_get_parameter(from%network, n, source)
      call tenon_layer_get_parameter(to%network, n, target)
      call tenon_dtensor_copy(source, target)
      call tenon_destroy(target)
      call tenon_destroy(source)
    end do
  end subroutine closure_copy

  ! change <- dt N(q), in training mode with all that the adjoint needs.
  subroutine closure_apply(c, training, q, change)
    type(closure_t), intent(inout) :: c
    logical, intent(in) :: training
    real(real64), intent(inout), target :: q(1 - ghost:, 1 - ghost:, :), change(1 - ghost:, 1 - ghost:, :)
    call tenon_place(c%q, q(1:c%grid%nx, 1:c%grid%ny, :), array=q)
    call tenon_place(c%output, change(1:c%grid%nx, 1:c%grid%ny, 1:outputs), array=change)
    call tenon_layer_set_training(c%network, training)
    call tenon_layer_apply(c%network, c%q, c%output)
    change(:, :, 1:outputs) = c%dt*tendency*change(:, :, 1:outputs)
    change(:, :, outputs + 1:) = 0
  end subroutine closure_apply

  ! gradient <- (dt N')* w, and adds to the gradients of the weights.
  subroutine closure_adjoint(c, w, gradient)
    type(closure_t), intent(inout), target :: c
    real(real64), intent(in) :: w(1 - ghost:, 1 - ghost:, :)
    real(real64), intent(inout), target :: gradient(1 - ghost:, 1 - ghost:, :)
    c%work = c%dt*tendency*w
    call tenon_place(c%cotangent, c%work(1:c%grid%nx, 1:c%grid%ny, 1:outputs), array=c%work)
    call tenon_place(c%gradient, gradient(1:c%grid%nx, 1:c%grid%ny, :), array=gradient)
    call tenon_layer_apply_adjoint(c%network, c%cotangent, c%gradient)
  end subroutine closure_adjoint
end module water_closure
