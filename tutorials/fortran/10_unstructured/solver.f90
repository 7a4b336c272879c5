! SPDX-License-Identifier: BSD-2-Clause
! The rotating shallow-water equations on a sphere, for the depth h and the momentum m = h u, a vector along the
! sphere in three coordinates,
!
!   dh/dt = -div m,     dm/dt = -div (m u + h^2 / 2) - f up x m,     f = 2 rotation up(3),
!
! by finite volumes of first order: through the side with normal n between cells i and j goes
!
!   (F(q(i)) n + F(q(j)) n) / 2 - speed |n| (q(j) - q(i)) / 2,
!
! and in time by Heun's method, q1 = q + dt R(q), S(q) = (q + q1 + dt R(q1)) / 2. Forces are projected onto the cells,
! along which momentum stays. Mass is conserved to rounding. Units: radius 1, depth at rest 1, gravity 1, so that
! waves have the speed 1.
module sphere_solver
  use sphere_mesh
  implicit none
  private
  public :: solver_create, solver_step, solver_adjoint, solver_diffuse, solver_diffuse_adjoint, project
  integer, parameter, public :: stages = 2
  real(real64), parameter :: rotation = 2           ! of the sphere
  real(real64), parameter :: speed = 1.2_real64     ! at least that of waves and current

  type, public :: solver_t
    type(mesh_t) :: mesh
    real(real64) :: dt
    real(real64), allocatable :: stages(:, :, :), rate(:, :), work(:, :)
  end type solver_t
contains
  subroutine solver_create(mesh, dt, s)
    type(mesh_t), intent(in) :: mesh
    real(real64), intent(in) :: dt
    type(solver_t), intent(out) :: s
    s%mesh = mesh
    s%dt = dt
    call create_fields(mesh, stages, s%stages)
    call create_field(mesh, s%rate)
    call create_field(mesh, s%work)
  end subroutine solver_create

  ! m - (m . up) up
  pure function project(up, m)
    real(real64), intent(in) :: up(3), m(3)
    real(real64) :: project(3)
    project = m - dot_product(m, up)*up
  end function project

  ! F(q) n / 2
  pure function flux(q, n)
    real(real64), intent(in) :: q(fields), n(3)
    real(real64) :: flux(fields), through
    through = dot_product(q(2:), n)
    flux = [through, q(2:)*(through/q(1)) + q(1)*q(1)/2*n]/2
  end function flux

  ! (F'(q) n / 2)* g
  pure function flux_adjoint(q, n, g) result(z)
    real(real64), intent(in) :: q(fields), n(3), g(fields)
    real(real64) :: z(fields), current, along
    current = dot_product(q(2:), n)/q(1)
    along = dot_product(q(2:), g(2:))/q(1)
    z = [q(1)*dot_product(n, g(2:)) - current*along, g(1)*n + current*g(2:) + along*n]/2
  end function flux_adjoint

  ! r <- R(q), whose ghosts are filled.
  subroutine find_rate(m, q, r)
    type(mesh_t), intent(in) :: m
    real(real64), intent(in) :: q(:, :)
    real(real64), intent(inout) :: r(:, :)
    integer :: i, j, k
    do i = 1, m%owned
      r(:, i) = 0
      do k = 1, sides
        j = m%neighbours(k, i)
        r(:, i) = r(:, i) - (flux(q(:, i), m%normals(:, k, i)) + flux(q(:, j), m%normals(:, k, i)) &
                             - speed*norm2(m%normals(:, k, i))*(q(:, j) - q(:, i))/2)/m%areas(i)
      end do
      r(2:, i) = r(2:, i) - 2*rotation*m%up(3, i)*cross(m%up(:, i), q(2:, i))
      r(2:, i) = project(m%up(:, i), r(2:, i))
    end do
  end subroutine find_rate

  ! z <- R'(q)* w, with what belongs to cells of others in the ghosts.
  subroutine find_rate_adjoint(m, q, w, z)
    type(mesh_t), intent(in) :: m
    real(real64), intent(in) :: q(:, :), w(:, :)
    real(real64), intent(inout) :: z(:, :)
    real(real64) :: v(fields), g(fields), spread(fields)
    integer :: i, j, k
    z = 0
    do i = 1, m%owned
      v = [w(1, i), project(m%up(:, i), w(2:, i))]
      z(2:, i) = z(2:, i) + 2*rotation*m%up(3, i)*cross(m%up(:, i), v(2:))
      g = -v/m%areas(i)
      do k = 1, sides
        j = m%neighbours(k, i)
        spread = speed*norm2(m%normals(:, k, i))*g/2
        z(:, i) = z(:, i) + flux_adjoint(q(:, i), m%normals(:, k, i), g) + spread
        z(:, j) = z(:, j) + flux_adjoint(q(:, j), m%normals(:, k, i), g) - spread
      end do
    end do
  end subroutine find_rate_adjoint

  ! q <- S(q). The arguments of R, with their ghosts, stay in `saved`, which the adjoint needs.
  subroutine solver_step(s, q, saved)
    type(solver_t), intent(inout) :: s
    real(real64), intent(inout) :: q(:, :)
    real(real64), intent(inout), target :: saved(:, :, :)
    saved(:, :, 1) = q
    call mesh_exchange(s%mesh, saved(:, :, 1))
    call find_rate(s%mesh, saved(:, :, 1), s%rate)
    saved(:, :, 2) = q + s%dt*s%rate
    call mesh_exchange(s%mesh, saved(:, :, 2))
    call find_rate(s%mesh, saved(:, :, 2), s%rate)
    q = (q + saved(:, :, 2))/2 + s%dt/2*s%rate
  end subroutine solver_step

  ! w <- S'(q)* w: from dL/dS(q) to dL/dq.
  subroutine solver_adjoint(s, saved, w)
    type(solver_t), intent(inout), target :: s
    real(real64), intent(in) :: saved(:, :, :)
    real(real64), intent(inout) :: w(:, :)
    call find_rate_adjoint(s%mesh, saved(:, :, 2), w, s%work)
    call mesh_exchange_adjoint(s%mesh, s%work)
    s%work = w/2 + s%dt/2*s%work ! dL/dq1
    call find_rate_adjoint(s%mesh, saved(:, :, 1), s%work, s%rate)
    call mesh_exchange_adjoint(s%mesh, s%rate)
    w = w/2 + s%work + s%dt*s%rate
  end subroutine solver_adjoint

  ! q <- q + a D p, D p = sum over the sides of |n| (p(j) - p(i)) / area: fluxes down the gradient of p, which conserve
  ! mass whatever p is. The ghosts of p are filled.
  subroutine solver_diffuse(s, a, p, q)
    type(solver_t), intent(inout) :: s
    real(real64), intent(in) :: a
    real(real64), intent(inout), target :: p(:, :)
    real(real64), intent(inout) :: q(:, :)
    real(real64) :: total(fields)
    integer :: i, k
    call mesh_exchange(s%mesh, p)
    do i = 1, s%mesh%owned
      total = 0
      do k = 1, sides
        total = total + norm2(s%mesh%normals(:, k, i))*(p(:, s%mesh%neighbours(k, i)) - p(:, i))
      end do
      q(1, i) = q(1, i) + a*total(1)/s%mesh%areas(i)
      q(2:, i) = q(2:, i) + a*project(s%mesh%up(:, i), total(2:))/s%mesh%areas(i)
    end do
  end subroutine solver_diffuse

  ! p <- a D* w
  subroutine solver_diffuse_adjoint(s, a, w, p)
    type(solver_t), intent(inout) :: s
    real(real64), intent(in) :: a, w(:, :)
    real(real64), intent(inout), target :: p(:, :)
    real(real64) :: through(fields)
    integer :: i, j, k
    p = 0
    do i = 1, s%mesh%owned
      do k = 1, sides
        j = s%mesh%neighbours(k, i)
        through = a*norm2(s%mesh%normals(:, k, i))/s%mesh%areas(i)*[w(1, i), project(s%mesh%up(:, i), w(2:, i))]
        p(:, j) = p(:, j) + through
        p(:, i) = p(:, i) - through
      end do
    end do
    call mesh_exchange_adjoint(s%mesh, p)
  end subroutine solver_diffuse_adjoint
end module sphere_solver
