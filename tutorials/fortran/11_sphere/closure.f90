! SPDX-License-Identifier: BSD-2-Clause
! The closure: a spherical Fourier neural operator that adds to the solver's step what the degrees that it does not have
! would do to those that it has,
!
!   z[n+1] = S(z[n]) + dt unit N(z[n] / scale).
!
! N reads and returns coefficients. On the points between, each of two blocks is a spherical convolution, whose weights
! depend on the degree, and gelu; products with matrices at each point before and after them have `channels` channels.
! What is between the transforms of z and of the output can also be a network from PyTorch (../../11_sphere/train.py).
module spectral_closure
  use spectral_solver
  use tenon
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: closure_create, closure_destroy, closure_apply, closure_adjoint
  integer, parameter :: channels = 8, blocks = 2
  ! The size of the vorticity, and the unit of the network's output.
  real(real64), parameter :: scale = 2, unit = 0.03_real64

  type, public :: closure_t
    real(real64) :: dt
    type(tenon_layer) :: network
    type(tenon_optimizer) :: optimizer
    type(tenon_dtensor), allocatable :: x(:) ! inputs of as many evaluations as wait for their adjoints, used in turn
    type(tenon_dtensor) :: y, dy, dx
    integer :: next
  end type closure_t
contains
  ! `depth` evaluations can wait for their adjoints. `model` is the file of a network from PyTorch, or empty for one with
  ! random weights.
  subroutine closure_create(s, model, depth, c)
    type(solver_t), intent(in) :: s
    character(len=*), intent(in) :: model
    integer, intent(in) :: depth
    type(closure_t), intent(out) :: c
    integer :: n
    c%dt = s%dt
    c%next = 1
    call tenon_layer_create_sequential(s%comm, c%network)
    call add_transform(s, c%network, 'inversesht')
    if (model /= '') then
      call add_model(s, c%network, model)
    else
      call add_network(s, c%network)
    end if
    call add_transform(s, c%network, 'sht')
    call tenon_layer_set_data_type(c%network, TENON_FLOAT64)
    call tenon_layer_set_stack_depth(c%network, depth)
    call tenon_set_from_options(c%network)
    call tenon_layer_set_up(c%network, s%spectral)
    if (model == '') call tenon_layer_initialize(c%network, 1)
    call tenon_optimizer_create(c%network, 'adam', c%optimizer)
    allocate (c%x(depth))
    do n = 1, depth
      call solver_create_field(s, c%x(n))
    end do
    call tenon_layer_create_output(c%network, 1, c%y)
    call tenon_layer_create_output_cotangent(c%network, 1, c%dy)
    call tenon_layer_create_input_cotangent(c%network, 1, c%dx)
  end subroutine closure_create

  ! Between fields at the points: a new network.
  subroutine add_network(s, network)
    type(solver_t), intent(in) :: s
    type(tenon_layer), intent(in) :: network
    integer :: n
    call add_matrix(s, network, 1, channels)
    do n = 1, blocks
      call add_block(s, network)
    end do
    call add_matrix(s, network, channels, 1)
  end subroutine add_network

  ! The same from PyTorch. Its transforms are recognised, and become spherical convolutions.
  subroutine add_model(s, network, model)
    type(solver_t), intent(in) :: s
    type(tenon_layer), intent(in) :: network
    character(len=*), intent(in) :: model
    type(tenon_layer) :: layer
    call tenon_layer_create_from_model(s%comm, model, layer)
    call add_layer(network, layer)
  end subroutine add_model

  subroutine add_layer(network, layer)
    type(tenon_layer), intent(in) :: network
    type(tenon_layer), intent(inout) :: layer
    call tenon_layer_sequential_add(network, layer)
    call tenon_destroy(layer)
  end subroutine add_layer

  subroutine add_transform(s, network, type)
    type(solver_t), intent(in) :: s
    type(tenon_layer), intent(in) :: network
    character(len=*), intent(in) :: type
    type(tenon_layer) :: layer
    call tenon_layer_create_type(s%comm, type, layer)
    call tenon_set_integers(layer, 'degrees', [s%degrees])
    if (type == 'inversesht') call tenon_set_integers(layer, 'size', [s%columns, s%rows])
    call add_layer(network, layer)
  end subroutine add_transform

  ! A matrix at each point.
  subroutine add_matrix(s, network, in, out)
    type(solver_t), intent(in) :: s
    type(tenon_layer), intent(in) :: network
    integer, intent(in) :: in, out
    type(tenon_layer) :: layer
    call tenon_layer_create_conv(s%comm, in, out, [1, 1], layer)
    call add_layer(network, layer)
  end subroutine add_matrix

  subroutine add_block(s, network)
    type(solver_t), intent(in) :: s
    type(tenon_layer), intent(in) :: network
    type(tenon_layer) :: layer
    call tenon_layer_create_type(s%comm, 'sphericalconv', layer)
    call tenon_set_integers(layer, 'in_channels', [channels])
    call tenon_set_integers(layer, 'out_channels', [channels])
    call tenon_set_integers(layer, 'degrees', [s%degrees])
    call add_layer(network, layer)
    call tenon_layer_create_type(s%comm, 'gelu', layer)
    call add_layer(network, layer)
  end subroutine add_block

  subroutine closure_destroy(c)
    type(closure_t), intent(inout) :: c
    integer :: n
    call tenon_destroy(c%dx)
    call tenon_destroy(c%dy)
    call tenon_destroy(c%y)
    do n = 1, size(c%x)
      call tenon_destroy(c%x(n))
    end do
    call tenon_destroy(c%optimizer)
    call tenon_destroy(c%network)
  end subroutine closure_destroy

  ! next <- next + dt unit N(z / scale); with `training` with all that the adjoint needs.
  subroutine closure_apply(c, training, z, next)
    type(closure_t), intent(inout) :: c
    logical, intent(in) :: training
    type(tenon_dtensor), intent(in) :: z, next
    integer :: n
    n = c%next
    c%next = mod(n, size(c%x)) + 1
    call tenon_dtensor_axpby(1/scale, z, 0.0_real64, c%x(n))
    call tenon_layer_set_training(c%network, training)
    call tenon_layer_apply(c%network, c%x(n), c%y)
    call tenon_dtensor_axpby(c%dt*unit, c%y, 1.0_real64, next)
  end subroutine closure_apply

  ! gradient <- gradient + its adjoint of w, which adds to the gradients of the weights.
  subroutine closure_adjoint(c, w, gradient)
    type(closure_t), intent(inout) :: c
    type(tenon_dtensor), intent(in) :: w, gradient
    call tenon_dtensor_axpby(c%dt*unit, w, 0.0_real64, c%dy)
    call tenon_layer_apply_adjoint(c%network, c%dy, c%dx)
    call tenon_dtensor_axpby(1/scale, c%dx, 1.0_real64, gradient)
  end subroutine closure_adjoint
end module spectral_closure
